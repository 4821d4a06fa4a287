import type { InspanCommand } from './command.ts'

export interface ListedCommand {
  readonly name: string
  readonly summary: string
  /** Loads the command's code on demand, because commands share little. */
  load(): Promise<InspanCommand>
}

export const COMMANDS: readonly ListedCommand[] = [
  {
    name: 'run',
    summary: 'ask an agent and watch it work',
    load: async () => (await import('./commands/run.ts')).runCommand,
  },
  {
    name: 'chat',
    summary: 'talk with an agent in this terminal',
    load: async () => (await import('./commands/chat.ts')).chatCommand,
  },
  {
    name: 'compare',
    summary: 'give one prompt to several agents and compare what they did',
    load: async () => (await import('./commands/compare.ts')).compareCommand,
  },
  {
    name: 'replay',
    summary: 'show a recorded conversation again',
    load: async () => (await import('./commands/replay.ts')).replayCommand,
  },
  {
    name: 'threads',
    summary: 'list recorded conversations',
    load: async () => (await import('./commands/threads.ts')).threadsCommand,
  },
  {
    name: 'sessions',
    summary: 'list what coding agents have begun in this folder, and continue it',
    load: async () => (await import('./commands/sessions.ts')).sessionsCommand,
  },
  {
    name: 'export',
    summary: 'write a conversation as HTML, Markdown or JSON',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  {
    name: 'normalize',
    summary: "turn a coding agent's output into activity events",
    load: async () => (await import('./commands/normalize.ts')).normalizeCommand,
  },
  {
    name: 'serve',
    summary: 'serve conversations to browsers and programs on this machine',
    load: async () => (await import('./commands/serve.ts')).serveCommand,
  },
  {
    name: 'db',
    summary: 'prepare or look at a database that several machines share',
    load: async () => (await import('./commands/db.ts')).dbCommand,
  },
  {
    name: 'acp',
    summary: 'be an agent for editors and programs that speak the Agent Client Protocol',
    load: async () => (await import('./commands/acp.ts')).acpCommand,
  },
  {
    name: 'trust',
    summary: 'let agents follow the instructions and skills of a folder',
    load: async () => (await import('./commands/trust.ts')).trustCommand,
  },
  {
    name: 'doctor',
    summary: 'show which coding agents can be used here, and check the database',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  {
    name: 'keys',
    summary: 'show where the keys of providers come from, never the keys',
    load: async () => (await import('./commands/keys.ts')).keysCommand,
  },
  {
    name: 'init',
    summary: 'write a config file for this folder',
    load: async () => (await import('./commands/init.ts')).initCommand,
  },
  {
    name: 'data',
    summary: 'show where everything lies, back it up, delete it for good',
    load: async () => (await import('./commands/data.ts')).dataCommand,
  },
  {
    name: 'report',
    summary: 'collect what a bug report needs, without secrets',
    load: async () => (await import('./commands/report.ts')).reportCommand,
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands in your shell',
    load: async () => (await import('./commands/completion.ts')).completionCommand,
  },
]
