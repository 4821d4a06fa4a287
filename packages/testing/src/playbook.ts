import { checkScript, checkTurn } from './script-check.ts'
import { ScriptEnded } from './script-errors.ts'
import { fillQuotes, hasQuotes } from './quote.ts'
import type { RequestFacts } from './request-facts.ts'
import type { Script, ScriptedRoute, ScriptedTurn, ScriptObject, ModelTurn } from './script.ts'
import { looksLikeSideRequest } from './side-requests.ts'

/** A request as a script sees it. `text` is the whole request as JSON. */
export interface Asked<Request> {
  readonly request: Request
  readonly facts: RequestFacts
  readonly text: string
  readonly userAgent: string
}

/** The turn that answers a request. `turn` is its index in the route's list; a side answer has none. */
export interface Chosen {
  readonly route: string
  readonly turn: number | undefined
  make(): Promise<ModelTurn>
}

interface PlayedRoute<Request> {
  readonly name: string
  readonly turns: readonly ScriptedTurn<Request>[]
  readonly route: ScriptedRoute<Request> | undefined
  index: number
  /** How many times the turn at `index` has been played. */
  played: number
  calls: number
}

const defaultSide: ModelTurn = { text: 'Scripted side answer' }

/** The state of a script while it is played: one position in the main list of turns and one in every route. */
export class Playbook<Request> {
  readonly #script: ScriptObject<Request>
  readonly #main: PlayedRoute<Request>
  readonly #routes: readonly PlayedRoute<Request>[]
  readonly #quoting = new Set<ModelTurn>()
  readonly #sideByDefault: boolean

  constructor(script: Script<Request>, options: { sideByDefault: boolean }) {
    this.#script = checkScript(script)
    this.#main = line('main', this.#script.turns ?? [], undefined)
    this.#routes = (this.#script.routes ?? []).map((route, index) =>
      line(route.name ?? `routes[${index}]`, route.turns, route),
    )
    this.#sideByDefault = options.sideByDefault || this.#script.side !== undefined
    for (const turns of [this.#main.turns, ...this.#routes.map((route) => route.turns), [this.#script.side]]) {
      for (const turn of turns) if (typeof turn === 'object' && hasQuotes(turn)) this.#quoting.add(turn)
    }
  }

  /** The number of turns that no call has reached yet, including those of routes. */
  get turnsLeft(): number {
    const left = (line: PlayedRoute<Request>): number => line.turns.length - line.index - (line.played > 0 ? 1 : 0)
    return [this.#main, ...this.#routes].reduce((sum, line) => sum + left(line), 0)
  }

  /** Takes the next turn for this request. Throws `ScriptEnded` when there is none. */
  take(asked: Asked<Request>): Chosen {
    const route = this.#routes.find((line) => line.route !== undefined && matches(line.route, asked))
    if (route === undefined && this.#isSide(asked)) {
      return { route: 'side', turn: undefined, make: () => this.#make(this.#script.side ?? defaultSide, 'side', asked) }
    }
    const line = route ?? this.#main
    line.calls += 1
    const turn = line.turns[line.index]
    if (turn === undefined) {
      throw new ScriptEnded({
        call: line.calls,
        turns: line.turns.length,
        route: line.name,
        lastUserMessage: asked.facts.lastUser,
      })
    }
    const place = line.index
    advance(line, turn)
    return { route: line.name, turn: place, make: () => this.#make(turn, `${line.name}[${place}]`, asked) }
  }

  #isSide(asked: Asked<Request>): boolean {
    const { isSide } = this.#script
    if (typeof isSide === 'function') return isSide(asked.request)
    if (isSide === false || !this.#sideByDefault) return false
    return looksLikeSideRequest(asked.facts, asked.userAgent)
  }

  async #make(scripted: ScriptedTurn<Request>, path: string, asked: Asked<Request>): Promise<ModelTurn> {
    if (typeof scripted === 'object' && !this.#quoting.has(scripted)) return scripted
    const turn = typeof scripted === 'function' ? await scripted(asked.request) : scripted
    if (turn !== scripted) checkTurn(turn, path)
    const filled = hasQuotes(turn) ? fillQuotes(turn, () => newestFirst(asked)) : turn
    if (filled !== turn) checkTurn(filled, path)
    return filled
  }
}

function line<Request>(
  name: string,
  turns: readonly ScriptedTurn<Request>[],
  route: ScriptedRoute<Request> | undefined,
): PlayedRoute<Request> {
  return { name, turns, route, index: 0, played: 0, calls: 0 }
}

function advance<Request>(line: PlayedRoute<Request>, turn: ScriptedTurn<Request>): void {
  line.played += 1
  const repeat = typeof turn === 'object' ? (turn.repeat ?? 1) : 1
  if (repeat === true || line.played < repeat) return
  line.index += 1
  line.played = 0
}

function matches<Request>(route: ScriptedRoute<Request>, asked: Asked<Request>): boolean {
  const { match } = route
  if (typeof match === 'function') return match(asked.request)
  const { system, opening, model } = asked.facts
  const places = { system: [system], opening: [opening], model: [model], anywhere: [asked.text] }
  const texts = route.where === undefined ? [system, opening, model] : places[route.where]
  return texts.some((text) => (typeof match === 'string' ? text.includes(match) : text.search(match) !== -1))
}

function* newestFirst<Request>(asked: Asked<Request>): Generator<string, void, undefined> {
  for (const message of asked.facts.messages.toReversed()) yield JSON.stringify(message)
  yield asked.text
}
