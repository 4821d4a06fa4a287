import { InspanError } from '@inspan/protocol'
import type { Embed } from '@inspan/protocol/driver'

/** What all versions of the embedding model specification have in common. */
interface EmbeddingModel {
  readonly maxEmbeddingsPerCall?: number | PromiseLike<number | undefined>
  doEmbed(options: {
    readonly values: readonly string[]
    readonly abortSignal?: AbortSignal
  }): PromiseLike<{ readonly embeddings: readonly (readonly number[])[] }>
}

const MOST_PER_CALL = 100

/** Returns what embeds texts with a model, as many at once as that allows. */
export function embedWith(given: object): Embed {
  const model = given as EmbeddingModel
  if (typeof model.doEmbed !== 'function') {
    throw new InspanError('invalid-input', 'The `embedder` of `recall` is not an embedding model of the AI SDK.')
  }
  return async (texts, signal) => {
    const most = Math.max(1, (await model.maxEmbeddingsPerCall) ?? MOST_PER_CALL)
    const vectors: (readonly number[])[] = []
    for (let from = 0; from < texts.length; from += most) {
      const values = texts.slice(from, from + most)
      const { embeddings } = await model.doEmbed({ values, ...(signal === undefined ? {} : { abortSignal: signal }) })
      vectors.push(...embeddings)
    }
    return vectors
  }
}
