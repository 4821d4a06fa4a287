import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runTimePackages, type LockFile } from './lock-file.ts'

const lock: LockFile = {
  packages: {
    '': {},
    'packages/one': {
      dependencies: { '@evener/two': '0.1.0', direct: '^1.0.0' },
      optionalDependencies: { native: '^1.0.0', 'not-for-this-platform': '^1.0.0' },
      peerDependencies: { brought: '^1.0.0', wanted: '^1.0.0' },
      peerDependenciesMeta: { brought: { optional: true } },
    },
    'packages/two': { dependencies: { shared: '^1.0.0', '@evener/one': '0.1.0' } },
    'node_modules/@evener/one': { link: true, resolved: 'packages/one' },
    'node_modules/@evener/two': { link: true, resolved: 'packages/two' },
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
