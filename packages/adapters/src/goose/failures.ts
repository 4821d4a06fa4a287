/** How messages begin in which Goose itself says, in the agent's place, why there is no answer. */
const BEGINNINGS: readonly string[] = [
  'Ran into this error:',
  'Network error:',
  'The model returned an empty response. Please resend your message',
]
/** How such messages end. */
const ENDINGS: readonly string[] = [
  'Please retry if you think this is a transient or recoverable error.',
  'Please resend your message to try again.',
  'Please resend your message to continue.',
]

/** The report of a subagent whose last message has no text, which happens if its provider refuses. */
const NO_REPORT = 'No text content in last message'

/** For texts that are not marked as written by a model. */
export function beginsAsFailure(text: string): boolean {
  return BEGINNINGS.some((beginning) => text.startsWith(beginning))
}

/** For the report of a subagent: only the form distinguishes a failure from the subagent's own words. */
export function isFailure(text: string): boolean {
  return text === NO_REPORT || (beginsAsFailure(text) && ENDINGS.some((ending) => text.endsWith(ending)))
}
