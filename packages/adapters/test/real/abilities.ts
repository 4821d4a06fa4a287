/** What CLIs are tested for in their real versions: the rows of the tables in docs/guide/agents.md. */
const ANY_WAY = {
  text: 'Answers with text, and reports its usage',
  reasoning: 'Reports its reasoning apart from its answer',
  'command-succeeds': 'Runs a command',
  'command-fails': 'Reports the exit code of a command that fails',
  'read-range': 'Reads a range of lines',
  write: 'Writes a file',
  edit: 'Edits a file',
  search: 'Searches',
  list: 'Lists a directory',
  parallel: 'Runs calls side by side',
  subagent: 'Starts a subagent and reports its end',
  skill: 'Uses a skill',
  mcp: 'Calls a tool of an MCP server',
  'mcp-remote': 'Calls a tool of an MCP server over HTTP that requires a header',
  image: 'Accepts an image',
  instructions: 'Takes instructions, and other ones later',
  handover: 'Receives what others said in the thread',
  resume: 'Resumes its session in another process',
  'resume-at-anchor': 'Resumes where our thread is, not at the end of its session',
  fork: 'Forks its session where our thread is',
  rules: 'Does not run what our rules deny',
  stop: 'Stops in the middle of a command, and leaves nothing running',
  'provider-401': 'Fails with one error when its key is wrong (401)',
  'provider-429': 'Waits and continues after too many requests (429)',
  'provider-500': 'Fails with one error when the provider is broken (500)',
  'provider-cut': 'Continues when an answer is cut off',
  'provider-gone': 'Gives up when the provider cannot be reached',
  deadline: 'Ends at our deadline when the provider never answers',
  recording: 'Can be recorded and replayed exactly',
} as const

/** The rows of each mode. Every CLI has to be tested for every row. */
export const ABILITIES = {
  print: {
    ...ANY_WAY,
    'read-only': 'Does not write where it may only read',
    'edit-only': 'Does not write outside of its directory where it may only edit',
    'missing-key': 'Reports what to set when it has no key',
  },
  live: {
    ...ANY_WAY,
    'next-turn': 'Takes the next turn in the same process',
    killed: 'Resumes its session after it was killed between two turns',
    approve: 'Runs a command that a person has approved',
    decline: 'Does not run a command that a person has declined, and is told why',
    'decline-one': 'Continues with one of two waiting calls when the other is declined',
    'stop-waiting': 'Stops while a call waits, and leaves nothing behind',
    'late-answer': 'Waits longer than a minute for an answer',
    steer: 'Takes a message while it works',
  },
  acp: {
    text: 'Answers with text',
    'next-turn': 'Remembers in the next turn what was said before',
    approve: 'Runs a command that a person has approved',
    decline: 'Does not run a command that a person has declined',
  },
} as const

export type Mode = keyof typeof ABILITIES
export type Ability = keyof (typeof ABILITIES)['print'] | keyof (typeof ABILITIES)['live']
