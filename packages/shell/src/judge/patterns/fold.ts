/** Code points that some file systems leave out of a name, and people do not see. */
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu

/**
 * Returns the same text for all spellings that some file system treats as the same name: case, composed and decomposed
 * accents, compatibility forms. For denies and asks only: an allow takes a name as written.
 */
export function fold(text: string): string {
  return text.normalize('NFKC').replace(IGNORED, '').toUpperCase().toLowerCase().normalize('NFKC')
}
