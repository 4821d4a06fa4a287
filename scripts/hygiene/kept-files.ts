import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Returns the files under version control without using git: all that .gitignore does not name. Supports the two forms
 * of lines used there, `folder/` and names with stars.
 */
export async function keptFiles(root: string): Promise<string[]> {
  const lines = (await readFile(join(root, '.gitignore'), 'utf8')).split('\n').filter((line) => line !== '')
  const unknown = lines.filter((line) => !/^[\w.-]+\/$|^[\w.*-]+$/.test(line))
  if (unknown.length > 0) throw new Error(`.gitignore has lines that this check does not know: ${unknown.join(', ')}`)
  const folders = new Set(['.git', ...lines.filter((line) => line.endsWith('/')).map((line) => line.slice(0, -1))])
  const names = lines.filter((line) => !line.endsWith('/')).map(namePattern)

  const files: string[] = []
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory() && !folders.has(entry.name)) await walk(path)
      if (entry.isFile() && !names.some((name) => name.test(entry.name))) files.push(path)
    }
  }
  await walk('')
  return files.sort()
}

function namePattern(line: string): RegExp {
  return new RegExp(`^${line.replaceAll('.', String.raw`\.`).replaceAll('*', '.*')}$`)
}
