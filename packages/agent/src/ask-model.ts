import type { LanguageModel } from './language-model.ts'
import { wellFormed } from './well-formed.ts'

interface AskOptions {
  readonly responseFormat?: { readonly type: 'json' }
}

type Generate = (
  options: AskOptions & { readonly prompt: readonly unknown[]; readonly abortSignal: AbortSignal },
) => PromiseLike<{ readonly content: readonly { readonly type: string; readonly text?: string }[] }>

/** Asks a model one question outside a conversation, and returns the text of its answer. */
export async function askModel(
  model: LanguageModel,
  system: string,
  prompt: string,
  signal: AbortSignal,
  options: AskOptions = {},
): Promise<string> {
  // The versions of the model specification differ only in what is not used here.
  const generate = model.doGenerate.bind(model) as unknown as Generate
  const asked = [
    { role: 'system', content: wellFormed(system) },
    { role: 'user', content: [{ type: 'text', text: wellFormed(prompt) }] },
  ]
  const { content } = await generate({ ...options, prompt: asked, abortSignal: signal })
  return content.flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : [])).join('')
}
