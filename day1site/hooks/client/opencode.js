// Plugin of opencode: gives the hook client beside it what happens in a session, in the form of Claude Code's
// hooks, and puts what memory answers before the model.
//
// opencode.json names it with the hook client's command line, which `day1 connect opencode` writes:
//   "plugin": [["file:///…/opencode.js", {"command": ["python3", "-I", "-S", "/…/hook.py", "--client", "opencode"]}]]
// Without the option that command line is used, with the default config.

import { spawn, spawnSync } from "node:child_process"
import { realpathSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

const TIMEOUT_MS = 5000
const OTHER_PROJECTS = ["CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR"] // of a program around this one
const TOOL_NAMES = {
  bash: "Bash", edit: "Edit", glob: "Glob", grep: "Grep", read: "Read", task: "Task", webfetch: "WebFetch", write: "Write",
}
const FIELD_NAMES = { filePath: "file_path", oldString: "old_string", newString: "new_string" }
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/s // `opencode run` puts a prompt of several words into quotes

function defaultCommand() {
  const folder = path.dirname(realpathSync(fileURLToPath(import.meta.url)))
  return ["python3", "-I", "-S", path.join(folder, "hook.py"), "--client", "opencode"]
}

function clientOptions(directory) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OTHER_PROJECTS.includes(name)))
  return { cwd: directory, env, timeout: TIMEOUT_MS, windowsHide: true }
}

/** Run the hook client with an event that it leaves to a background process; this keeps the order of events. */
function store(command, directory, event) {
  const stdio = ["pipe", "ignore", "ignore"]
  spawnSync(command[0], command.slice(1), { ...clientOptions(directory), stdio, input: JSON.stringify(event) })
}

/** Run the hook client with an event that is answered; return what it prints, "" when it fails or is late. */
function ask(command, directory, event) {
  return new Promise((resolve) => {
    const chunks = []
    const stdio = ["pipe", "pipe", "ignore"]
    const child = spawn(command[0], command.slice(1), { ...clientOptions(directory), stdio })
    child.on("error", () => resolve(""))
    child.on("close", () => resolve(Buffer.concat(chunks).toString()))
    child.stdout.on("data", (chunk) => chunks.push(chunk))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })
}

function readContext(answer) {
  try {
    return JSON.parse(answer).hookSpecificOutput.additionalContext ?? ""
  } catch {
    return ""
  }
}

/** Return a person's own words: neither what the program adds nor the quotes of its command line. */
function readPrompt(parts) {
  const own = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
  const text = own.map((part) => part.text).join("\n").trim()
  const quoted = QUOTED.exec(text)
  return quoted ? quoted[1].replaceAll('\\"', '"') : text
}

function renameFields(input) {
  return Object.fromEntries(Object.entries(input ?? {}).map(([name, value]) => [FIELD_NAMES[name] ?? name, value]))
}

/** Return the event of a finished tool call. */
function readCall({ tool, callID, state }) {
  const call = { tool_name: TOOL_NAMES[tool] ?? tool, tool_input: renameFields(state.input), tool_use_id: callID }
  if (state.status === "error") return { hook_event_name: "PostToolUseFailure", error: String(state.error), ...call }
  const output = state.metadata?.display?.text ?? state.output // of a file that was read, without line numbers
  const exit = state.metadata?.exit
  const response = { output, ...(Number.isInteger(exit) ? { exit_code: exit } : {}) }
  return { hook_event_name: "PostToolUse", tool_response: response, ...call }
}

/** What is known of one session of opencode; a subagent has a session of its own, below its parent's. */
class Session {
  parent = ""
  context = undefined // promise of what memory tells at the start
  message = "" // the assistant's newest message, and its texts by the ids of its parts
  model = ""
  isSummary = false
  texts = new Map()

  take(info) {
    if (info.role !== "assistant") return
    if (info.id !== this.message) this.texts = new Map()
    this.message = info.id
    this.model = info.modelID ?? ""
    this.isSummary = Boolean(info.summary)
  }

  get answer() {
    return [...this.texts.values()].join("\n\n").trim()
  }
}

export const Day1 = async ({ directory }, options) => {
  const command = options?.command ?? defaultCommand()
  const sessions = new Map()
  const calls = new Set()

  const find = (id) => sessions.get(id) ?? sessions.set(id, new Session()).get(id)
  const root = (id) => (find(id).parent ? root(find(id).parent) : id)

  function complete(id, event) {
    return { session_id: root(id), cwd: directory, ...(find(id).parent ? { agent_id: id } : {}), ...event }
  }

  const send = (id, event) => store(command, directory, complete(id, event))
  const learn = async (id, event) => readContext(await ask(command, directory, complete(id, event)))

  function start(id) {
    const name = find(id).parent ? "SubagentStart" : "SessionStart"
    find(id).context ??= learn(id, { hook_event_name: name, source: "startup" })
    return find(id).context
  }

  function stop(id) {
    const { answer, message, model, isSummary, parent } = find(id)
    if (!answer || isSummary) return
    const name = parent ? "SubagentStop" : "Stop"
    send(id, { hook_event_name: name, last_assistant_message: answer, prompt_id: message, model })
  }

  function end() {
    for (const [id, { context, parent }] of sessions)
      if (context && !parent) send(id, { hook_event_name: "SessionEnd", reason: "exit" })
    sessions.clear()
  }

  function takePart(part) {
    const session = find(part.sessionID)
    if (part.type === "text" && part.messageID === session.message && part.time?.end && !part.synthetic)
      session.texts.set(part.id, part.text)
    const isDone = part.type === "tool" && ["completed", "error"].includes(part.state.status)
    // A call whose output was dropped by a compaction comes again.
    if (!isDone || part.state.time?.compacted || calls.has(part.callID)) return
    calls.add(part.callID)
    send(part.sessionID, readCall(part))
  }

  const takers = {
    "session.created": ({ info }) => (find(info.id).parent = info.parentID ?? ""),
    "session.updated": ({ info }) => (find(info.id).parent = info.parentID ?? ""),
    "message.updated": ({ info }) => find(info.sessionID).take(info),
    "message.part.updated": ({ part }) => takePart(part),
    "session.idle": ({ sessionID }) => stop(sessionID),
    "session.compacted": ({ sessionID }) => {
      const { isSummary, answer } = find(sessionID)
      if (isSummary) send(sessionID, { hook_event_name: "PostCompact", compact_summary: answer })
    },
    "session.error": ({ sessionID, error }) => {
      if (!sessionID || error?.name === "MessageAbortedError") return // the person stopped it
      const details = { error: error?.name ?? "error", error_details: error?.data?.message ?? "" }
      send(sessionID, { hook_event_name: "StopFailure", ...details })
    },
  }

  process.on("exit", end) // `opencode run` may end without dispose
  return {
    event: async ({ event }) => {
      takers[event.type]?.(event.properties)
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      await start(sessionID)
      const prompt = readPrompt(parts)
      if (find(sessionID).parent || !prompt) return // a subagent's prompt is the model's
      const asked = { hook_event_name: "UserPromptSubmit", prompt, prompt_id: message.id }
      const text = await learn(sessionID, asked)
      // Parts are in the order of their ids.
      const last = parts[parts.length - 1]
      if (text) parts.push({ ...last, id: `${last.id}m`, type: "text", text, synthetic: true })
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      const context = sessionID ? await start(sessionID) : ""
      if (context) system.push(context)
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      send(sessionID, { hook_event_name: "PreCompact" })
    },
    dispose: async () => {
      end()
      process.off("exit", end)
    },
  }
}
