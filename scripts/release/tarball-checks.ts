/** What a tarball must pass before it is published. */
import { readFile } from 'node:fs/promises'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** Returns what publint and "Are the types wrong?" complain about. */
export async function complaintsAbout(tarball: string): Promise<readonly string[]> {
  const data = await readFile(tarball)
  return [...(await publintOf(data)), ...(await typesOf(data))]
}

async function publintOf({ buffer, byteOffset, byteLength }: Buffer<ArrayBuffer>): Promise<readonly string[]> {
  const tarball = buffer.slice(byteOffset, byteOffset + byteLength)
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true })
  return messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`)
}

/**
 * The packages are ES modules, and Node.js can `require` those since 22.12. Resolution as in Node.js 10 ignores
 * `exports`, and data files have no types. All other problems count.
 */
async function typesOf(data: Uint8Array): Promise<readonly string[]> {
  const analysis = await checkPackage(createPackageFromTarballData(data), { excludeEntrypoints: [/\.json$/, /\*/] })
  if (analysis.types === false) return ['attw: the package has no types']
  return analysis.problems
    .filter(({ kind }) => kind !== 'CJSResolvesToESM')
    .filter((problem) => !('resolutionKind' in problem && problem.resolutionKind === 'node10'))
    .map((problem) => `attw: ${JSON.stringify(problem)}`)
}
