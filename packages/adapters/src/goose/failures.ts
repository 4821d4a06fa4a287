/** How Goose begins a message of its own that says, in the agent's place, why there is no answer. */
const BEGINNINGS: readonly string[] = [
  'Ran into this error:',
  'Network error:',
  'The model returned an empty response. Please resend your message',
]
/** And how it ends one. */
const ENDINGS: readonly string[] = [
  'Please retry if you think this is a transient or recoverable error.',
  'Please resend your message to try again.',
  'Please resend your message to continue.',
]

/** What it gives as the report of a subagent whose last message has no words: refused by its provider, it says nothing. */
const NO_REPORT = 'No text content in last message'

/** For texts of which nobody says that a model wrote them. */
export function beginsAsFailure(text: string): boolean {
  return BEGINNINGS.some((beginning) => text.startsWith(beginning))
}

/** For the report of a subagent, which is its own words unless it has failed: nothing tells them apart but their form. */
export function isFailure(text: string): boolean {
  return text === NO_REPORT || (beginsAsFailure(text) && ENDINGS.some((ending) => text.endsWith(ending)))
}
