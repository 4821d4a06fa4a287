import { EvenerError, type ImagePart, type Part } from '@evener/protocol'

/** What the turn says in words, and the pictures that come with it. */
export interface Prompt {
  readonly text: string
  readonly images: readonly ImagePart[]
}

/** Throws `unsupported` for what cannot be said to a program on its command line or input. */
export function promptOf(input: readonly Part[], title: string): Prompt {
  const texts: string[] = []
  const images: ImagePart[] = []
  for (const part of input) {
    switch (part.type) {
      case 'text':
      case 'signal':
        texts.push(part.text)
        break
      case 'image':
        if (part.data === '') throw cannotTake(title, 'an image whose content was not loaded')
        images.push(part)
        break
      case 'file':
        texts.push(fileText(part, title))
        break
      default:
        throw cannotTake(title, `a ${part.type} part`)
    }
  }
  if (texts.every((text) => text.trim() === '') && images.length === 0) {
    throw new EvenerError('invalid-input', 'The turn has no input.', { hint: 'Give it a text or an image.' })
  }
  // A provider refuses half a surrogate pair.
  return { text: texts.join('\n\n').toWellFormed(), images }
}

/** The text alone, for programs that take no images. */
export function promptText(input: readonly Part[], title: string): string {
  const { text, images } = promptOf(input, title)
  if (images.length > 0) throw cannotTake(title, 'images')
  return text
}

/** A text file is said as text, with its name; anything else has no words. */
function fileText(part: Extract<Part, { type: 'file' }>, title: string): string {
  const { mimeType, data, fileName = 'file', url } = part
  if (url !== undefined) throw cannotTake(title, 'a file of which only the address is known')
  if (!mimeType.startsWith('text/') && mimeType !== 'application/json') {
    throw cannotTake(title, `a file of type ${mimeType}`)
  }
  return `<file name=${JSON.stringify(fileName)}>\n${Buffer.from(data, 'base64').toString('utf8')}\n</file>`
}

function cannotTake(title: string, what: string): EvenerError {
  return new EvenerError('unsupported', `${title} cannot be given ${what}.`, {
    hint: 'Leave it out, or write it to a file that the agent can read.',
  })
}

/** The ending of an image's file name, as programs tell the format by it. */
export function imageEnding(mimeType: string): string {
  const subtype = mimeType.slice('image/'.length)
  return subtype === 'jpeg' ? 'jpg' : subtype.replace(/\W.*$/, '')
}
