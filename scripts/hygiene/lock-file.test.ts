import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lockedVersions, runTimePackages, tooYoung, type LockFile } from './lock-file.ts'

const lock: LockFile = {
  packages: {
    '': {},
    'packages/one': {
      dependencies: { '@inspan/two': '0.1.0', direct: '^1.0.0' },
      optionalDependencies: { native: '^1.0.0', 'not-for-this-platform': '^1.0.0' },
      peerDependencies: { brought: '^1.0.0', wanted: '^1.0.0' },
      peerDependenciesMeta: { brought: { optional: true } },
    },
    'packages/two': { dependencies: { shared: '^1.0.0', '@inspan/one': '0.1.0' } },
    'node_modules/@inspan/one': { link: true, resolved: 'packages/one' },
    'node_modules/@inspan/two': { link: true, resolved: 'packages/two' },
    'node_modules/direct': { dependencies: { '@scope/deep': '^1.0.0', shared: '^2.0.0' } },
    'node_modules/direct/node_modules/shared': { dependencies: { '@scope/deep': '^1.0.0' } },
    'node_modules/@scope/deep': { dependencies: { direct: '^1.0.0' } },
    'node_modules/shared': { dependencies: { 'only-of-the-outer': '^1.0.0' } },
    'node_modules/only-of-the-outer': {},
    'node_modules/native': {},
    'node_modules/brought': {},
    'node_modules/wanted': {},
    'node_modules/a-tool': {},
  },
}

test('everything npm would install with a package is counted once, also through packages of ours', () => {
  assert.deepEqual(runTimePackages(lock, 'one'), [
    '@scope/deep',
    'direct',
    'native',
    'only-of-the-outer',
    'shared',
    'wanted',
  ])
})

test('a package finds its dependency where Node would, in its own folder first', () => {
  const { 'node_modules/direct/node_modules/shared': _, ...others } = lock.packages
  const nested = runTimePackages({ packages: { ...lock.packages, 'packages/two': {} } }, 'one')
  const hoisted = runTimePackages({ packages: { ...others, 'packages/two': {} } }, 'one')
  assert.ok(!nested.includes('only-of-the-outer'))
  assert.ok(hoisted.includes('only-of-the-outer'))
})

test('a package without dependencies needs nothing', () => {
  assert.deepEqual(runTimePackages({ packages: { 'packages/alone': {} } }, 'alone'), [])
})

const versions: LockFile = {
  packages: {
    '': { version: '0.0.0' },
    'packages/one': { version: '0.1.0' },
    'node_modules/@inspan/one': { link: true, resolved: 'packages/one' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b/node_modules/a': { version: '1.0.0' },
    'node_modules/c/node_modules/a': { version: '2.0.0' },
    'node_modules/called-d': { name: '@scope/d', version: '3.0.0' },
  },
}

test('every third-party version counts once, under the name it was published with', () => {
  assert.deepEqual(
    lockedVersions(versions).map(({ name, version }) => `${name}@${version}`),
    ['a@1.0.0', 'a@2.0.0', '@scope/d@3.0.0'],
  )
})

test('a version is old enough so many days after the day it was published, and never when that is not known', () => {
  const dates = { 'a@1.0.0': '2026-01-01', 'a@2.0.0': '2026-01-05' }
  const at = (time: string): string[] => tooYoung(versions, dates, 7, Date.parse(time))
  assert.deepEqual(at('2026-01-08T23:59:59Z'), ['a@1.0.0', 'a@2.0.0', '@scope/d@3.0.0'])
  assert.deepEqual(at('2026-01-09T00:00:00Z'), ['a@2.0.0', '@scope/d@3.0.0'])
  assert.deepEqual(at('2027-01-01T00:00:00Z'), ['@scope/d@3.0.0'])
})
