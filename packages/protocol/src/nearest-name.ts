/** Returns a sentence that suggests the known name that was probably meant, or lists all of them when none is close. */
export function didYouMean(given: string, known: readonly string[]): string {
  const meant = given.toLowerCase()
  const nearest = known
    .map((name) => ({ name, distance: distanceOf(meant, name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)[0]
  if (nearest === undefined) return ''
  if (nearest.distance <= Math.max(2, given.length / 2)) return `Did you mean "${nearest.name}"?`
  return `Known: ${known.join(', ')}.`
}

/** The beginning of a name is closer than any other name. */
function distanceOf(given: string, name: string): number {
  return given.length > 1 && name.startsWith(given) ? 0 : editDistance(given, name)
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 0; row < a.length; row += 1) {
    const current = [row + 1]
    for (let column = 0; column < b.length; column += 1) {
      const replaced = (previous[column] ?? 0) + (a[row] === b[column] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
