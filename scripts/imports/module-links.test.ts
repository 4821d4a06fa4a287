import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { moduleLinksOf } from './module-links.ts'

function specifiers(source: string): readonly string[] {
  return moduleLinksOf(source).specifiers
}

describe('imports are found', () => {
  const forms: readonly string[] = [
    `import 'a'`,
    `import "a"`,
    `import a from 'a'`,
    `import { b } from 'a'`,
    `import { b as c, type D } from 'a'`,
    `import * as all from 'a'`,
    `import b, { c } from 'a'`,
    `import b, * as c from 'a'`,
    `import type { B } from 'a'`,
    `import type B from 'a'`,
    `import {\n  b,\n  c,\n} from 'a'`,
    `import json from 'a' with { type: 'json' }`,
    `import { from } from 'a'`,
    `import from from 'a'`,
    `const b = await import('a')`,
    `type B = import('a').B`,
    `export { b } from 'a'`,
    `export { b as c, type D } from 'a'`,
    `export type { B } from 'a'`,
    `export * from 'a'`,
    `export * as all from 'a'`,
    `#!/usr/bin/env node\nimport 'a'`,
    '`${await import("a")}`',
    '`${{ b: `${1}` }}`; import "a"',
    `const half = b / c; import 'a'; const other = d / 'e'`,
    `const quote = /['"\`]/; import 'a'`,
    `return /[/"]/.test(x); import 'a'`,
    `x.replace(/"/g, ''); import 'a'`,
  ]
  for (const form of forms) it(form, () => assert.deepEqual(specifiers(form), ['a']))
})

describe('what only looks like one is not', () => {
  const forms: readonly string[] = [
    `// import 'a'`,
    `/* import 'a' */`,
    `/**\n * import { b } from 'a'\n */`,
    `const text = "import 'a'"`,
    '`import "a"`',
    '`${1} import "a"`',
    '`\\`import "a"`',
    `const url = import.meta.url`,
    `loader.import('a')`,
    `await import(name)`,
    `const pattern = /import 'a'/`,
    `export const from = 'a'`,
    `export { from }`,
    `export function from() { return 'a' }`,
    `const x = { import: 'a' }`,
    `const isIt = 'it\\'s'; // import 'a'`,
  ]
  for (const form of forms) it(form, () => assert.deepEqual(specifiers(form), []))
})

it('several are given in the order of the file', () => {
  assert.deepEqual(specifiers(`import 'a'\nexport { b } from './b.ts'\nimport { c } from 'c'`), ['a', './b.ts', 'c'])
})

describe('an export of everything is seen', () => {
  for (const form of [`export * from 'a'`, `export * as all from 'a'`, `export type * from 'a'`]) {
    it(form, () => assert.equal(moduleLinksOf(form).hasExportStar, true))
  }
  it('a multiplication is not taken for an export of everything', () => {
    assert.equal(moduleLinksOf(`export const area = a * b`).hasExportStar, false)
  })
})

describe('a default export is seen', () => {
  for (const form of [
    `export default 1`,
    `export default function () {}`,
    `export { a as default }`,
    `export { b, a as default } from 'a'`,
    `export = a`,
  ]) {
    it(form, () => assert.equal(moduleLinksOf(form).hasDefaultExport, true))
  }
  for (const form of [
    `export { default as a } from 'a'`,
    `switch (a) { default: }`,
    `export const a = { default: 1 }`,
  ]) {
    it(`no default export is seen in ${form}`, () => assert.equal(moduleLinksOf(form).hasDefaultExport, false))
  }
})
