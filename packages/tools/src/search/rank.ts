/** Words of at least this many letters also match as the beginning of a longer word. */
const MIN_PREFIX = 3
const DEFAULT_LIMIT = 10

/**
 * Returns what fits a query best, best first. Texts are given in the order of their weight: a name before a description.
 * Words that few have count more than words that all have.
 */
export function rank<Item>(
  query: string,
  items: readonly Item[],
  textsOf: (item: Item) => readonly string[],
  limit: number = DEFAULT_LIMIT,
): Item[] {
  const wanted = [...new Set(wordsOf(query))]
  const indexed = items.map((item) => ({ item, texts: textsOf(item).map((text) => wordsOf(text)) }))
  const weights = wanted.map((word) => {
    const count = indexed.filter(({ texts }) => texts.some((words) => words.some((each) => fits(word, each)))).length
    return Math.log(1 + items.length / (1 + count))
  })
  return indexed
    .map(({ item, texts }, index) => ({ item, index, score: score(texts) }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, limit)
    .map(({ item }) => item)

  function score(texts: readonly (readonly string[])[]): number {
    let sum = 0
    for (const [at, word] of wanted.entries()) {
      const place = texts.findIndex((words) => words.some((each) => fits(word, each)))
      if (place >= 0) sum += (weights[at] ?? 0) * (texts.length - place)
    }
    return sum
  }
}

function fits(wanted: string, word: string): boolean {
  return word === wanted || (wanted.length >= MIN_PREFIX && word.startsWith(wanted))
}

function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
