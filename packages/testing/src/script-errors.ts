/** A script that cannot be played. `path` points to the place: `turns[2].toolCalls[0].name`. */
export class InvalidScript extends Error {
  readonly path: string

  constructor(path: string, problem: string) {
    super(`Invalid script: ${path}: ${problem}`)
    this.name = 'InvalidScript'
    this.path = path
  }
}

/** More calls came than the script has turns. */
export class ScriptEnded extends Error {
  /** The number of this call within its list of turns, counted from 1. */
  readonly call: number
  readonly turns: number
  readonly route: string
  readonly lastUserMessage: string

  constructor(details: { call: number; turns: number; route: string; lastUserMessage: string }) {
    const list = details.route === 'main' ? 'The script' : `The script for ${details.route}`
    super(
      `${list} is over: this is model call ${details.call}, but there ${details.turns === 1 ? 'is 1 turn' : `are ${details.turns} turns`}. ` +
        `Add a turn, or find out why the model was called once more. Last user message: ${JSON.stringify(excerpt(details.lastUserMessage))}`,
    )
    this.name = 'ScriptEnded'
    this.call = details.call
    this.turns = details.turns
    this.route = details.route
    this.lastUserMessage = details.lastUserMessage
  }
}

/** A `{{re:…}}` of a turn found nothing in the request that the turn answers. */
export class QuoteNotFound extends Error {
  readonly pattern: string

  constructor(pattern: string) {
    super(`{{re:${pattern}}} found nothing in the request. Check the pattern against the recorded request text.`)
    this.name = 'QuoteNotFound'
    this.pattern = pattern
  }
}

/** A turn that the requested format cannot express. */
export class UnplayableTurn extends Error {
  constructor(why: string) {
    super(`This turn cannot be played: ${why}`)
    this.name = 'UnplayableTurn'
  }
}

const excerptLength = 200

function excerpt(text: string): string {
  // Agents wrap what they add to a user message in tags. The user's own words are outside them.
  const said = text.replace(/<([\w-]+)>[\s\S]*?<\/\1>/g, '').trim() || text
  return said.length <= excerptLength ? said : `${said.slice(0, excerptLength)}…`
}
