import type { ReasoningDeltaEvent, TextDeltaEvent } from '@inspan/protocol'
import type { ActivityDraft } from './activity.ts'
import { cleanText } from './clean-text.ts'
import { ENDED, endOfText, INTERRUPTED, isBlank, setPlace, type Mutable } from './event-parts.ts'
import type { Ledger } from './ledger.ts'
import type { TextPlace, PlacedText } from './mapper.ts'
import { Texts, remainderOf, type OpenText } from './texts.ts'

type SpeechEvent = Mutable<TextDeltaEvent | ReasoningDeltaEvent>
type PartPlace = TextPlace & { readonly partId: string }

/** Turns what agents say into events: deltas, and complete texts that may repeat them. */
export class Speech {
  readonly #ledger: Ledger
  readonly #push: (event: SpeechEvent, drafts?: readonly ActivityDraft[]) => void
  readonly #texts = new Texts()

  constructor(ledger: Ledger, push: (event: SpeechEvent, drafts?: readonly ActivityDraft[]) => void) {
    this.#ledger = ledger
    this.#push = push
  }

  delta(type: SpeechEvent['type'], text: string, place: PartPlace): void {
    this.#texts.append(place.partId, text, place.parent, type === 'reasoning-delta')
    const event: SpeechEvent = { type, text }
    setPlace(event, place)
    this.#push(event)
  }

  texts(texts: readonly PlacedText[], interrupted: boolean): void {
    const last = texts.at(-1)
    for (const { text, place } of texts.slice(0, -1)) this.#push(this.#whole('text-delta', text, place, interrupted))
    if (last !== undefined) this.text(last.text, texts.map(({ text }) => text).join('\n'), last.place, interrupted)
  }

  /** `said`: the whole message, of which `text` is the last text. */
  text(text: string, said: string, place: TextPlace, interrupted: boolean): void {
    const event = this.#whole('text-delta', text, place, interrupted)
    const message = place.parent === undefined ? cleanText(said) : ''
    if (!isBlank(message)) {
      this.#ledger.made()
      this.#push(event, [{ type: 'agent', message }])
      return
    }
    this.#ledger.consume(place.parent === undefined ? 'empty-text' : 'subagent-text')
    this.#push(event)
  }

  reasoning(text: string, place: TextPlace): void {
    this.#ledger.consume('reasoning')
    this.#push(this.#whole('reasoning-delta', text, place, false))
  }

  /** Ends texts that were never completed. The parts that arrived count. */
  close(): void {
    if (this.#texts.isEmpty) return
    for (const open of this.#texts.takeAll()) this.#breakOff(open)
  }

  /** The same for the agent's own texts: its subagents may go on talking. */
  closeOwn(): void {
    if (this.#texts.isEmpty) return
    for (const open of this.#texts.takeOwn()) this.#breakOff(open)
  }

  /** The same for one text. */
  end(partId: string): void {
    const open = this.#texts.take(partId)
    if (open !== undefined) this.#breakOff(open)
  }

  #breakOff(open: OpenText): void {
    const message = open.parent === undefined && !open.isReasoning ? cleanText(open.said) : ''
    this.#push(endOfText(open), isBlank(message) ? undefined : [{ type: 'agent', message }])
  }

  /** Returns the event that ends a text, with what the deltas left out. */
  #whole(type: SpeechEvent['type'], text: string, place: TextPlace, interrupted: boolean): SpeechEvent {
    const open = place.partId === undefined ? undefined : this.#texts.take(place.partId)
    const rest = open === undefined ? text : remainderOf(text, open.said)
    const event: SpeechEvent = { type, text: rest ?? text, meta: interrupted ? INTERRUPTED : ENDED }
    setPlace(event, place)
    if (open !== undefined && rest === undefined) {
      // What was shown cannot be undone, so a complete text with other words becomes a text of its own.
      this.#push(endOfText(open))
      event.partId = `${open.key}'`
    }
    return event
  }
}
