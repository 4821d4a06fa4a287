/** Tab, newline and printable ASCII are never suspicious. */
const ORDINARY = /^[\t\n -~]*$/

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/\r/u, 'carriage return'],
  [/\0/u, 'NUL character'],
  [/(?![\t\n\r\0])\p{Cc}/u, 'control character'],
  [/[\u{61c}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}]/u, 'text direction control'],
  // A zero-width joiner between emoji makes one picture of two. Anywhere else it hides something.
  [
    /[\u{ad}\u{180e}\u{200b}\u{200c}\u{2060}-\u{2064}\u{feff}]|(?<![\p{Extended_Pictographic}\u{fe0f}])\u{200d}/u,
    'invisible character',
  ],
  [/[\u{e0000}-\u{e007f}]/u, 'tag character'],
  [/[\u{2028}\u{2029}]/u, 'Unicode line separator'],
  [/(?![ \u{3000}])\p{Zs}/u, 'space that is not a space to the shell'],
  [/\p{Cs}/u, 'half of a surrogate pair'],
]

/** Returns the kinds of characters that people, naive splitters and the shell read differently. */
export function suspiciousCharacters(text: string): string[] {
  if (ORDINARY.test(text)) return []
  return KINDS.filter(([pattern]) => pattern.test(text)).map(([, kind]) => kind)
}

export function isPlainAscii(text: string): boolean {
  return ORDINARY.test(text)
}
