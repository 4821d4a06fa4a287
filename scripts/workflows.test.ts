/** GitHub runs the workflows. Here they are only checked: by GitHub's own parser, and against what is in the repository. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { workflowProblems as problemsOf } from './workflow-problems.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const folder = '.github/workflows'
const workflows = readdirSync(join(root, folder))
const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> }

describe('the workflows', () => {
  it('are those for tests, real agents and releases', () => {
    assert.deepEqual(workflows.toSorted(), ['nightly.yml', 'release.yml', 'test.yml'])
  })

  it('cannot have a mistake that the check does not see', async () => {
    const wrong = read(`${folder}/test.yml`)
    assert.match((await problemsOf('a.yml', wrong.replace('runs-on:', 'run-on:'))).join(), /run-on/)
    assert.match((await problemsOf('b.yml', wrong.replace('github.ref }}', 'githup.ref }}'))).join(), /githup/)
    assert.match((await problemsOf('c.yml', `${wrong}      - name: neither run nor uses\n`)).join(), /run|uses/)
  })

  for (const name of workflows) {
    describe(name, () => {
      const text = read(`${folder}/${name}`)

      it('is accepted by the parser of GitHub', async () => {
        assert.deepEqual(await problemsOf(name, text), [])
      })

      it('is marked as checked only, because nothing here can run it', () => {
        assert.match(text, /^# Not run on GitHub yet: scripts\/workflows\.test\.ts checks this file/m)
      })

      it('calls scripts and files that exist', () => {
        for (const [, script = ''] of text.matchAll(/\bnpm run ([\w:]+)/g))
          assert.ok(Object.hasOwn(scripts, script), script)
        const files = text.match(/\b(?:scripts|docs|packages)\/[\w./-]+\.(?:ts|md)\b/g) ?? []
        for (const file of files) assert.ok(existsSync(join(root, file)), file)
      })

      it('gives no job more rights than it needs', () => {
        const { permissions, jobs } = parse(text) as {
          permissions?: unknown
          jobs: Readonly<Record<string, { permissions?: Readonly<Record<string, string>> }>>
        }
        assert.deepEqual(permissions, { contents: 'read' })
        const raised = Object.entries(jobs).filter(([, job]) => job.permissions !== undefined)
        assert.deepEqual(
          raised.map(([job]) => `${name} ${job}`),
          name === 'release.yml' ? ['release.yml publish'] : [],
        )
      })

      it('has a time limit for every job', () => {
        const { jobs } = parse(text) as { jobs: Readonly<Record<string, { 'timeout-minutes'?: number }>> }
        for (const [job, limits] of Object.entries(jobs)) assert.ok(Number(limits['timeout-minutes']) > 0, job)
      })
    })
  }

  it('test on three systems', () => {
    const runners = [...read(`${folder}/test.yml`).matchAll(/(?:runs-on|runner): ([a-z]+)-/g)].map(
      ([, system]) => system,
    )
    assert.deepEqual(runners, ['ubuntu', 'macos', 'windows'])
  })

  it('publish only after the checks, as a trusted publisher with provenance', () => {
    const { jobs } = parse(read(`${folder}/release.yml`)) as {
      jobs: { publish: { needs: string; environment: string; permissions: unknown } }
    }
    assert.equal(jobs.publish.needs, 'check')
    assert.equal(jobs.publish.environment, 'npm')
    assert.deepEqual(jobs.publish.permissions, { contents: 'write', 'id-token': 'write' })
    assert.doesNotMatch(read(`${folder}/release.yml`), /secrets\./)
  })
})

describe('the issue forms', () => {
  for (const name of ['bug.yml', 'feature.yml']) {
    it(`${name} has fields that GitHub can show`, () => {
      const form = parse(read(`.github/ISSUE_TEMPLATE/${name}`)) as {
        name: string
        description: string
        body: readonly { type: string; id: string; attributes: { label?: string } }[]
      }
      assert.ok(form.name && form.description)
      for (const { type, id, attributes } of form.body) {
        assert.match(type, /^(textarea|input|dropdown|checkboxes)$/)
        assert.ok(id && attributes.label)
      }
    })
  }
})
