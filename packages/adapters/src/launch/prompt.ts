import { InspanError, type ImagePart, type Part } from '@inspan/protocol'

/** The text of a turn's input and its images. */
export interface Prompt {
  readonly text: string
  readonly images: readonly ImagePart[]
}

/** Throws `unsupported` for parts that a CLI cannot be given on its command line or input. */
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
    throw new InspanError('invalid-input', 'The turn has no input.', { hint: 'Give it a text or an image.' })
  }
  // Providers refuse half a surrogate pair.
  return { text: texts.join('\n\n').toWellFormed(), images }
}

/** Returns the text alone, for CLIs that take no images. */
export function promptText(input: readonly Part[], title: string): string {
  const { text, images } = promptOf(input, title)
  if (images.length > 0) throw cannotTake(title, 'images')
  return text
}

/** Returns a text file as text with its name. Throws for any other file. */
function fileText(part: Extract<Part, { type: 'file' }>, title: string): string {
  const { mimeType, data, fileName = 'file', url } = part
  if (url !== undefined) throw cannotTake(title, 'a file of which only the address is known')
  if (!mimeType.startsWith('text/') && mimeType !== 'application/json') {
    throw cannotTake(title, `a file of type ${mimeType}`)
  }
  return `<file name=${JSON.stringify(fileName)}>\n${Buffer.from(data, 'base64').toString('utf8')}\n</file>`
}

function cannotTake(title: string, what: string): InspanError {
  return new InspanError('unsupported', `${title} cannot be given ${what}.`, {
    hint: 'Leave it out, or write it to a file that the agent can read.',
  })
}

/** Returns the extension for an image's file name, by which CLIs recognise the format. */
export function imageEnding(mimeType: string): string {
  const subtype = mimeType.slice('image/'.length)
  return subtype === 'jpeg' ? 'jpg' : subtype.replace(/\W.*$/, '')
}
