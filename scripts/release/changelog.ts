const UNRELEASED = '## [Unreleased]'

/** Returns what the changelog says about a version. */
export function notesOf(changelog: string, version: string): string | undefined {
  const heading = `## [${version}]`
  const start = changelog.indexOf(`\n${heading}`)
  if (start === -1) return undefined
  const body = changelog.slice(changelog.indexOf('\n', start + 1) + 1)
  const end = body.search(/^## /m)
  return (end === -1 ? body : body.slice(0, end)).trim()
}

/** Gives the unreleased changes a version, with the texts of the changesets after what was written by hand. */
export function withRelease(
  changelog: string,
  release: { readonly version: string; readonly date: string; readonly changes: readonly string[] },
): string {
  const at = changelog.indexOf(UNRELEASED)
  if (at === -1) throw new Error(`The changelog has no heading "${UNRELEASED}".`)
  const body = changelog.slice(at + UNRELEASED.length)
  const next = body.search(/^## /m)
  const written = (next === -1 ? body : body.slice(0, next)).trim()
  const listed = release.changes.map((change) => `- ${change.trim().replaceAll('\n', '\n  ')}`).join('\n')
  const section = [`## [${release.version}] - ${release.date}`, written, listed].filter((part) => part !== '')
  const rest = next === -1 ? '' : `\n\n${body.slice(next)}`
  return `${changelog.slice(0, at)}${UNRELEASED}\n\n${section.join('\n\n')}${rest === '' ? '\n' : rest}`
}

/** Returns the text of a changeset without the versions in its head. */
export function textOfChangeset(file: string): string {
  return file.replace(/^---\n.*?^---\n/ms, '').trim()
}
