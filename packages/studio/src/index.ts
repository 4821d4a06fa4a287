import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { InspanError } from '@inspan/protocol'

/** Returns the folder with the built page, for `serve({ pages })`. */
export function studioPages(): string {
  const places = ['./pages', '../dist/pages'].map((path) => fileURLToPath(new URL(path, import.meta.url)))
  const built = places.find((place) => existsSync(`${place}/index.html`))
  if (built !== undefined) return built
  throw new InspanError('not-found', 'The web page has not been built.', {
    hint: 'In a clone: node packages/studio/scripts/build.ts',
  })
}
