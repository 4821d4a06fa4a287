import type { LanguageModel } from './language-model.ts'

type Generate = (options: {
  readonly prompt: readonly unknown[]
  readonly abortSignal: AbortSignal
}) => PromiseLike<{ readonly content: readonly { readonly type: string; readonly text?: string }[] }>

/** Asks a model one question outside of a conversation, and returns the text of its answer. */
export async function askModel(
  model: LanguageModel,
  system: string,
  prompt: string,
  signal: AbortSignal,
): Promise<string> {
  // The versions of the model specification differ only in what is not used here.
  const generate = model.doGenerate.bind(model) as unknown as Generate
  const asked = [
    { role: 'system', content: system },
    { role: 'user', content: [{ type: 'text', text: prompt }] },
  ]
  const { content } = await generate({ prompt: asked, abortSignal: signal })
  return content.flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : [])).join('')
}
