import type { LanguageModelV4Message } from '@ai-sdk/provider'
import type { StoredMessage } from '@inspan/protocol'
import type { ModelContext } from '@inspan/protocol/driver'
import { withoutBlankTexts } from './blank-texts.ts'
import { hasMark } from './cache-markers.ts'
import type { LanguageModel } from './language-model.ts'
import { withReachableFiles } from './linked-files.ts'
import { forSpecificationOf } from './older-models.ts'
import { promptMessages } from './prompt.ts'

/** The conversation in the words of one model. */
export interface ConvertedContext {
  readonly prompt: readonly LanguageModelV4Message[]
  /** The indices of messages with cache markers that the application has set. */
  readonly marked: readonly number[]
}

/** By the thread's cache key, then by model and agent. */
const kept = new WeakMap<object, Map<string, KeptPrompt>>()

/** The most models and agents a thread keeps its conversation for. */
const MOST_KEPT = 4

/**
 * Converts the conversation for a model. What was converted for an earlier request of the same model and agent is used
 * again, so a step costs as much as what was added since the last one.
 */
export async function convertContext(
  { cacheKey, messages }: Pick<ModelContext, 'cacheKey' | 'messages'>,
  model: LanguageModel,
  agentId: string,
): Promise<ConvertedContext> {
  const byUse = kept.get(cacheKey) ?? new Map<string, KeptPrompt>()
  kept.set(cacheKey, byUse)
  const use = JSON.stringify([agentId, model.specificationVersion, model.provider, model.modelId])
  const before = byUse.get(use) ?? new KeptPrompt()
  // The one used last stays longest.
  byUse.delete(use)
  byUse.set(use, before)
  if (byUse.size > MOST_KEPT) byUse.delete(byUse.keys().next().value ?? '')
  return before.convert(messages, model, agentId)
}

class KeptPrompt {
  #sources: readonly StoredMessage[] = []
  /** For every source, the length of the prompt up to and with it. */
  #ends: number[] = []
  #prompt: LanguageModelV4Message[] = []
  #marked: number[] = []

  async convert(messages: readonly StoredMessage[], model: LanguageModel, agentId: string): Promise<ConvertedContext> {
    let same = 0
    const most = Math.min(this.#sources.length, messages.length)
    while (same < most && this.#sources[same] === messages[same]) same++
    const end = this.#ends[same - 1] ?? 0
    const prompt = this.#prompt.slice(0, end)
    const ends = same === this.#ends.length ? this.#ends : this.#ends.slice(0, same)
    const marked = this.#marked.filter((index) => index < end)
    for (let index = same; index < messages.length; index++) {
      for (const message of await promptForModel(messages[index] as StoredMessage, model, agentId)) {
        if (hasMark(message)) marked.push(prompt.length)
        prompt.push(message)
      }
      ends.push(prompt.length)
    }
    this.#sources = messages
    this.#ends = ends
    this.#prompt = prompt
    this.#marked = marked
    return { prompt, marked }
  }
}

async function promptForModel(
  message: StoredMessage,
  model: LanguageModel,
  agentId: string,
): Promise<LanguageModelV4Message[]> {
  const prompt = withoutBlankTexts(model, promptMessages(message, agentId))
  return forSpecificationOf(model, { prompt: await withReachableFiles(model, prompt) }).prompt
}
