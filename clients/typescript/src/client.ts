/// <reference lib="esnext.disposable" preserve="true" />
/** The front: what most programs say, in few words. Everything else is in the groups. */

import { Exists } from "./generated/codes.js";
import { Operations } from "./generated/operations.js";
import type {
  BranchInput,
  FactInput,
  Found,
  FoundFact,
  Merge,
  MergeInput,
  Remember,
  RememberedMessageInput,
  RememberInput,
  SearchInput,
  Written,
} from "./generated/schemas.js";
import type { Defaults } from "./group.js";
import { Transport, type Options, type Settings } from "./transport.js";

/** What a call is about that does not say otherwise. */
export interface Place {
  branch?: string;
  /** The end user whose memory it is. */
  user?: string;
  agent?: string;
}

type Fact = Omit<FactInput, "fact_text"> & { wait?: "indexed" };
type Learn = Omit<RememberInput, "messages"> & { branch?: string };
export type Said = string | RememberedMessageInput;
export type BranchFields = Omit<BranchInput, "name"> & {
  /** What becomes of it where an `await using` of it ends and nothing was merged or discarded. */
  then?: "keep" | "discard";
};

/** A memory on a Day1 server; `DAY1_URL` and `DAY1_KEY` say where, unless the settings do. */
export class Day1 extends Operations {
  readonly transport: Transport;
  readonly defaults: Defaults;

  constructor(settings: (Settings & Place) | Transport = {}, defaults?: Defaults) {
    super();
    this.transport = settings instanceof Transport ? settings : new Transport(settings);
    this.defaults = defaults ?? readPlace(settings as Place);
  }

  /** Return the same memory with another branch, end user or agent. Nothing is sent. */
  on(place: Place): Day1 {
    return new Day1(this.transport, { ...this.defaults, ...readPlace(place) });
  }

  /** Store a text as a fact; or messages, of which Day1 learns what is worth keeping. */
  remember(what: string, fields?: Fact, options?: Options): Promise<Written>;
  remember(what: Said[], fields?: Learn, options?: Options): Promise<Remember>;
  remember(what: string | Said[], fields: object = {}, options?: Options): Promise<Written | Remember> {
    if (typeof what === "string") return this.facts.create({ ...fields, fact_text: what }, options);
    const messages = what.map((one) =>
      typeof one === "string" ? { role: "user" as const, content: one } : one,
    );
    return this.messages.remember({ ...fields, messages }, options);
  }

  /** Search facts. With `max_tokens` what was found is packed for a prompt. */
  async recall(query: string, search: Omit<SearchInput, "query"> = {}, options?: Options): Promise<Recall> {
    return new Recall(await this.facts.search({ ...search, query }, options));
  }

  /** Begin a branch, or go on with the one that has the name, and return the memory on it. */
  async branch(name: string, { then = "keep", ...fields }: BranchFields = {}): Promise<Branch> {
    const parent = fields.parent ?? this.defaults.branch;
    try {
      await this.branches.create({ ...fields, parent, name });
    } catch (error) {
      if (!(error instanceof Exists)) throw error;
    }
    return new Branch(this.transport, { ...this.defaults, branch: name }, name, parent, then);
  }

  /** Return the release of the server. */
  serverVersion(): Promise<string> {
    return this.transport.readVersion();
  }
}

/** What is known on a question: as a text it is for a prompt, a loop over it gives the facts. */
export class Recall implements Iterable<FoundFact> {
  constructor(readonly answer: Found) {}

  /** Whether what was found is likely to answer the question. */
  get known(): boolean {
    return this.answer.known;
  }

  get facts(): FoundFact[] {
    return this.answer.results.map((hit) => hit.fact);
  }

  toString(): string {
    return this.answer.context ?? this.facts.map((fact) => fact.essence).join("\n");
  }

  [Symbol.iterator](): Iterator<FoundFact> {
    return this.facts[Symbol.iterator]();
  }
}

/** A branch as a memory of its own: what is called on it happens there. */
export class Branch extends Day1 {
  isOpen = true;

  constructor(
    transport: Transport,
    defaults: Defaults,
    readonly name: string,
    readonly parent: string | undefined,
    private readonly atEnd: "keep" | "discard",
  ) {
    super(transport, defaults);
  }

  /** Merge into the branch that this one began from. Throws Conflict. */
  async merge(options: MergeInput = {}): Promise<Merge> {
    const answer = await this.branches.merge(this.name, { target: this.parent, ...options });
    this.isOpen &&= Boolean(options.dry_run);
    return answer;
  }

  /** Archive the branch: it takes no more writes, and `branches.restore` takes it back into use. */
  async discard(): Promise<void> {
    await this.branches.delete(this.name);
    this.isOpen = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isOpen && this.atEnd === "discard") await this.discard();
  }
}

/** Return what is given, by the API's names. Throws TypeError for a name that is nobody's, which is everybody, or several. */
function readPlace({ branch, user, agent }: Place): Defaults {
  for (const [said, name] of Object.entries({ branch, user, agent }))
    if (typeof name === "string" && (!name.trim() || name.includes(",")))
      throw new TypeError(`${said} is a name without commas, not "${name}"; undefined leaves it out.`);
  const said = Object.entries({ branch, user_id: user, agent_id: agent });
  return Object.fromEntries(said.filter(([, value]) => value)) as Defaults;
}
