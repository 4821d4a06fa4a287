import { InspanError } from '@inspan/protocol'

export type SignalAttributes = Readonly<Record<string, string | number | boolean | null>>

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/

/** Returns a signal as the model reads it: an element whose content can neither close it nor open another. */
export function signalXml(tagName: string, contents: string, attributes: SignalAttributes = {}): string {
  assertName(tagName, 'tag name')
  const given = Object.entries(attributes).flatMap(([name, value]) => {
    if (value === null) return []
    assertName(name, 'attribute name')
    return [` ${name}="${escapeXml(String(value)).replaceAll('"', '&quot;').replaceAll('\n', '&#10;')}"`]
  })
  return `<${tagName}${given.join('')}>${escapeXml(contents)}</${tagName}>`
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function assertName(name: string, what: string): void {
  if (NAME.test(name)) return
  throw new InspanError('invalid-input', `${JSON.stringify(name)} cannot be used as the ${what} of a signal.`, {
    hint: 'Begin with a letter; letters, digits, ".", "_" and "-" may follow.',
  })
}
