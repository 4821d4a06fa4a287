import type { ErrorData } from './error-data.ts'

/** Codes of Node.js and its `fetch` for broken connections. */
const NETWORK = /^(ECONN|ENOTFOUND|ETIMEDOUT|EPIPE|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_)/

const ADVICE: readonly (readonly [
  matches: (error: ErrorData, status: number | undefined) => boolean,
  advice: string,
])[] = [
  [
    ({ message }, status) =>
      status === 401 ||
      status === 403 ||
      /api.?key|unauthori[sz]ed|authentication|permission denied by the provider|not logged in|\blog ?in\b/i.test(
        message,
      ),
    'Check the key or the login of the provider: "inspan keys" shows where a key comes from, "inspan doctor" what a coding agent needs.',
  ],
  [
    ({ message }, status) =>
      status === 402 || /credit balance|insufficient.?(quota|funds|credit)|billing/i.test(message),
    'The account of the provider has to be topped up. Meanwhile, choose a model of another one.',
  ],
  [
    ({ code, message }) => code === 'context-overflow' || /context (window|length)|prompt is too long/i.test(message),
    'The conversation is too long for this model. Continue in a new thread, or choose a model with a larger context window.',
  ],
  [
    ({ message }, status) =>
      status === 404 || /model.{0,40}(not found|does not exist)|no such model|unknown model/i.test(message),
    'Choose another model.',
  ],
  [
    ({ message }, status) =>
      status === 429 || status === 529 || /rate.?limit|overloaded|too many requests/i.test(message),
    'Wait a little and send the message again, or choose another model.',
  ],
  [(error) => isNetwork(error), 'Check the network and the address of the provider, then send the message again.'],
  [
    ({ code, message }) =>
      code === 'stream-cut' || code === 'stream-idle' || /interrupted|process ended/i.test(message),
    'Send another message to go on: what was done so far is kept.',
  ],
]

/** Returns what a person can do about a run that failed; undefined if the error itself tells it, or nobody knows. */
export function adviceOn(error: ErrorData): string | undefined {
  // Our own errors end with a hint.
  if (error.name === 'InspanError') return undefined
  const status = statusOf(error)
  return ADVICE.find(([matches]) => matches(error, status))?.[1]
}

/** Returns a message followed by what a person can do about it, if anybody knows. */
export function withAdvice(message: string, error: ErrorData | undefined): string {
  const advice = error === undefined ? undefined : adviceOn(error)
  if (advice === undefined) return message
  return `${message}${/[.!?…]$/.test(message) ? '' : '.'} ${advice}`
}

function statusOf({ details }: ErrorData): number | undefined {
  const status = typeof details === 'object' && details !== null && 'status' in details ? details.status : undefined
  return typeof status === 'number' ? status : undefined
}

function isNetwork({ cause, code = '', message }: ErrorData): boolean {
  if (NETWORK.test(code) || /fetch failed|connection error|cannot connect/i.test(message)) return true
  return cause !== undefined && isNetwork(cause)
}
