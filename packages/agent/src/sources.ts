import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { JsonObject, TextDeltaEvent } from '@evener/protocol'

type Source = Extract<LanguageModelV4StreamPart, { type: 'source' }>

/**
 * Sources belong to the text that was said of them, in whose `meta.sources` they are kept. Providers name them before it,
 * while it is said or right after it: so its end is told when something else comes.
 */
export class Sources {
  #named: JsonObject[] = []
  #held: TextDeltaEvent | undefined

  get isEmpty(): boolean {
    return this.#named.length === 0
  }

  name(source: Source): void {
    this.#named.push(asJson(source))
  }

  /** Keeps the end of a text back. */
  hold(end: TextDeltaEvent): void {
    this.#held = end
  }

  /** The end that was kept back, with what it was said of. */
  release(): TextDeltaEvent | undefined {
    const held = this.#held
    if (held === undefined) return undefined
    this.#held = undefined
    if (this.isEmpty) return held
    const sources = this.#named
    this.#named = []
    return { ...held, meta: { ...held.meta, sources } }
  }
}

function asJson(source: Source): JsonObject {
  const title = source.title === undefined ? {} : { title: source.title }
  if (source.sourceType === 'url') return { id: source.id, url: source.url, ...title }
  const { filename, id, mediaType } = source
  return { id, mediaType, ...title, ...(filename === undefined ? {} : { fileName: filename }) }
}
