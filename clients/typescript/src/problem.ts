/** What goes wrong. Each stable code of the API has a class of its own in `generated/codes.ts`. */

export interface ProblemFields {
  status?: number;
  code?: string;
  field?: string;
  data?: Record<string, unknown>;
  request_id?: string;
  retryAfter?: number;
}

/** A refusal: `code` is stable, the message is for people. */
export class Day1Error extends Error {
  override name = "Day1Error";
  readonly code: string;
  /** The status of the answer; 0 where none came. */
  readonly status: number;
  /** Which input is at fault, where one is. */
  readonly field?: string;
  /** What the message is made of, for programs. */
  readonly data: Record<string, unknown>;
  readonly requestId?: string;
  /** Seconds that the server asks for before another try. */
  readonly retryAfter?: number;

  constructor(message: string, fields: ProblemFields = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = fields.code ?? "error";
    this.status = fields.status ?? 0;
    this.data = fields.data ?? {};
    this.field = fields.field;
    this.requestId = fields.request_id;
    this.retryAfter = fields.retryAfter;
  }
}

/** No answer came: no network, a broken connection, or nothing in time. */
export class Unreachable extends Day1Error {
  override name = "Unreachable";

  constructor(message: string, { data, cause }: { data?: Record<string, unknown>; cause?: unknown } = {}) {
    super(message, { code: "unreachable", data }, { cause });
  }
}

/** What answered is no Day1 server, or a proxy before it that says something of its own. */
export class NotDay1 extends Day1Error {
  override name = "NotDay1";

  constructor(text: string, status: number) {
    super(`What answered with status ${status} is no Day1: ${text.trim().slice(0, 200) || "an empty body"}`, {
      code: "not_day1",
      status,
    });
  }
}

/** The server is of an earlier release, which does not know the method or one of its parameters. */
export class ServerTooOld extends Day1Error {
  override name = "ServerTooOld";
}

/** What was read before, as `ifNoneMatch` says, is as it was. */
export class NotModified extends Day1Error {
  override name = "NotModified";

  constructor() {
    super("It is as it was.", { code: "not_modified", status: 304 });
  }
}
