/** What CLIs are tested for in their real versions: the rows of the tables in docs/guide/agents.md. */
const ANY_WAY = {
  text: 'Says a text, with its usage',
  reasoning: 'Shows its reasoning apart from its words',
  'command-succeeds': 'Runs a command',
  'command-fails': 'Tells the exit code of a command that fails',
  'read-range': 'Reads a range of lines',
  write: 'Writes a file',
  edit: 'Edits a file',
  search: 'Searches',
  list: 'Lists a directory',
  parallel: 'Runs calls side by side',
  subagent: 'Starts a subagent and hears of its end',
  skill: 'Uses a skill',
  mcp: 'Calls a tool of an MCP server',
  'mcp-remote': 'Calls a tool of an MCP server over HTTP that wants a header',
  image: 'Is shown an image',
  instructions: 'Is given instructions, and other ones later',
  handover: 'Hears what others said in the thread',
  resume: 'Goes on with its session in another process',
  'resume-at-anchor': 'Goes on where our thread is, not at the end of its session',
  fork: 'Forks its session where our thread is',
  rules: 'Does not run what our rules deny',
  stop: 'Is stopped in the middle of a command, and nothing is left running',
  'provider-401': 'Fails with one error when its key is wrong (401)',
  'provider-429': 'Waits and goes on when there were too many requests (429)',
  'provider-500': 'Fails with one error when the provider is broken (500)',
  'provider-cut': 'Goes on when an answer is cut off',
  'provider-gone': 'Gives up when the provider cannot be reached',
  deadline: 'Is ended by our deadline when the provider never answers',
  recording: 'Is recorded so that the recording reads again exactly',
} as const

/** The rows of each mode. Every CLI has to be tested for every row. */
export const ABILITIES = {
  print: {
    ...ANY_WAY,
    'read-only': 'Does not write where it may only read',
    'edit-only': 'Does not write outside of its directory where it may only edit',
    'missing-key': 'Says what to set when it has no key',
  },
  live: {
    ...ANY_WAY,
    'next-turn': 'Takes the next turn in the same process',
    killed: 'Goes on with its session when it was killed between two turns',
    approve: 'Runs a command that a person has approved',
    decline: 'Does not run a command that a person has declined, and hears why',
    'decline-one': 'Of two calls that wait goes on with one when the other is declined',
    'stop-waiting': 'Is stopped while a call waits, and nothing of it is left',
    'late-answer': 'Waits longer than a minute for an answer',
    steer: 'Hears a message while it works',
  },
} as const

export type Mode = keyof typeof ABILITIES
export type Ability = keyof (typeof ABILITIES)['print'] | keyof (typeof ABILITIES)['live']
