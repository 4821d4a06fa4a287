import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { JsonObject, TextDeltaEvent } from '@inspan/protocol'

type Source = Extract<LanguageModelV4StreamPart, { type: 'source' }>

/**
 * Collects sources into `meta.sources` of the text they belong to. Providers name them before, during or right after
 * the text, so the end of a text is held back until something else comes.
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

  /** Holds the end of a text back. */
  hold(end: TextDeltaEvent): void {
    this.#held = end
  }

  /** Returns the end that was held back, with its sources. */
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
