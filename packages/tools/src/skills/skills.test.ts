import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { readFrontMatter } from './front-matter.ts'
import { Skills, type SkillsOptions } from './skills.ts'

async function folderWith(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'inspan-skills-')))
  t.after(() => rm(folder, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n# ${name}\nSteps.\n`

async function loaded(root: string, options: SkillsOptions = {}): Promise<{ skills: Skills; problems: string[] }> {
  const problems: string[] = []
  const skills = await Skills.load({ paths: ['.'], root, ...options, onProblem: (problem) => problems.push(problem) })
  return { skills, problems }
}

suite('skills', () => {
  test('are disclosed by name and description, and read with their files when they are wanted', async (t) => {
    const root = await folderWith(t, {
      'skills/pdf/SKILL.md': skill('pdf', 'license: MIT\n'),
      'skills/pdf/references/forms.md': 'About forms.',
      'skills/mail/SKILL.md': skill('mail'),
    })
    const { skills, problems } = await loaded(root, { paths: ['skills'] })
    assert.deepEqual(problems, [])
    const [tool, ...others] = skills.list()
    assert.deepEqual([tool?.name, others], ['skill', []])
    assert.match(tool?.description ?? '', /- mail: Does mail\.\n- pdf: Does pdf\./)
    assert.doesNotMatch(tool?.description ?? '', /Steps/)

    const read = await skills.call('skill', { name: 'pdf' })
    assert.equal(read.result, `# pdf\nSteps.\n\nFiles of this skill, in ${root}/skills/pdf:\nreferences/forms.md`)
    const [activity] = read.activity?.events ?? []
    assert.ok(activity?.type === 'skill')
    assert.deepEqual([activity.path, activity.skillName], [`${root}/skills/pdf/SKILL.md`, 'pdf'])

    const file = await skills.call('skill', { name: 'pdf', file: 'references/forms.md' })
    assert.equal(file.result, 'About forms.')
    const missing = await skills.call('skill', { name: 'nothing' })
    assert.equal(missing.isError, true)
  })

  test('may be named one by one, and the first of two with one name is used', async (t) => {
    const root = await folderWith(t, { 'a/pdf/SKILL.md': skill('pdf'), 'b/pdf/SKILL.md': skill('pdf') })
    const { skills, problems } = await loaded(root, { paths: ['a/pdf', join(root, 'b')] })
    assert.deepEqual(
      skills.skills.map(({ path }) => path),
      [join(root, 'a/pdf/SKILL.md')],
    )
    assert.match(problems[0] ?? '', /has the same name/)
    await assert.rejects(loaded(root, { paths: ['nowhere'] }), /There is no folder/)
  })

  test('skills of a project are found in the usual places', async (t) => {
    const root = await folderWith(t, {
      '.agents/skills/a/SKILL.md': skill('a'),
      '.claude/skills/b/SKILL.md': skill('b'),
    })
    const { skills } = await loaded(root, { paths: [], project: root })
    assert.deepEqual(
      skills.skills.map(({ name }) => name),
      ['a', 'b'],
    )
  })

  test('in great number are searched for', async (t) => {
    const names = Array.from({ length: 40 }, (_, index) => `skill-${index}`)
    const files = Object.fromEntries([...names, 'invoices'].map((name) => [`${name}/SKILL.md`, skill(name)]))
    const root = await folderWith(t, files)
    const { skills } = await loaded(root, { search: true })
    assert.deepEqual(
      skills.list().map(({ name }) => name),
      ['search_skills', 'skill'],
    )
    assert.ok(JSON.stringify(skills.list()).length < 2_000)
    assert.match(
      JSON.stringify((await skills.call('search_skills', { query: 'write invoices' })).result),
      /^"invoices: /,
    )
  })
})

suite('a skill is refused by name when it', () => {
  const long = 'x'.repeat(1025)
  for (const [why, text, expected] of [
    ['has no front matter', '# Hello', /does not begin with front matter/],
    ['has another name than its folder', skill('other'), /is named "other", but its folder is "bad"/],
    ['has a name with capitals', skill('Bad'), /needs a `name`/],
    ['has no description', '---\nname: bad\n---\n', /needs a `description`/],
    ['has a description that is too long', `---\nname: bad\ndescription: ${long}\n---\n`, /needs a `description`/],
    ['has a field twice', '---\nname: bad\nname: good\ndescription: x\n---\n', /not plain YAML/],
    ['uses a tag', '---\nname: bad\ndescription: !!js/function "x"\n---\n', /not plain YAML|tags/],
    ['uses aliases', '---\nname: bad\ndescription: &a x\nmetadata: *a\n---\n', /anchors, aliases or tags/],
    ['grows by aliases', `---\nname: bad\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\ndescription: x\n---\n`, /anchors/],
    ['has broken YAML', '---\nname: [bad\n---\n', /not plain YAML/],
    ['has endless front matter', `---\nname: bad\n${'x: y\n'.repeat(5_000)}---\n`, /above 16384/],
    ['is too large', `${skill('bad')}${'x'.repeat(300_000)}`, /is larger than/],
  ] as const) {
    test(why, async (t) => {
      const root = await folderWith(t, { 'bad/SKILL.md': text, 'good/SKILL.md': skill('good') })
      const { skills, problems } = await loaded(root)
      assert.deepEqual(
        skills.skills.map(({ name }) => name),
        ['good'],
      )
      assert.equal(problems.length, 1)
      assert.match(problems[0] ?? '', expected)
      assert.match(problems[0] ?? '', /bad/)
    })
  }

  test('is not UTF-8, is a pipe, or is a link out of its folder', async (t) => {
    const outside = await folderWith(t, { 'secret.md': skill('linked'), 'away/SKILL.md': skill('away') })
    const root = await folderWith(t, { 'binary/x': '', 'pipe/x': '', 'linked/x': '' })
    await writeFile(join(root, 'binary/SKILL.md'), Buffer.from([0xff, 0xfe, 0x00]))
    execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', join(root, 'pipe/SKILL.md')])
    await symlink(join(outside, 'secret.md'), join(root, 'linked/SKILL.md'))
    await symlink(join(outside, 'away'), join(root, 'away'))
    const { skills, problems } = await loaded(root)
    assert.deepEqual(skills.skills, [])
    assert.equal(problems.length, 4)
    for (const [index, expected] of [
      /away leads out of/,
      /is not UTF-8/,
      /leads out of/,
      /not a plain file/,
    ].entries()) {
      assert.match(problems[index] ?? '', expected)
    }
  })

  test('is asked for a file outside it', async (t) => {
    const root = await folderWith(t, { 'a/SKILL.md': skill('a'), 'secret.txt': 'secret' })
    await symlink(join(root, 'secret.txt'), join(root, 'a/link.txt'))
    const { skills } = await loaded(root)
    for (const file of ['../secret.txt', '/etc/passwd', 'link.txt']) {
      await assert.rejects(skills.call('skill', { name: 'a', file }), /leads out of/)
    }
  })
})

test('a field __proto__ in the front matter of a skill reaches no object', async () => {
  const text = '---\nname: x\ndescription: y\n__proto__: { polluted: true }\n---\n'
  const { fields } = await readFrontMatter(text, 'SKILL.md')
  assert.deepEqual([...fields.keys()], ['name', 'description', '__proto__'])
  assert.equal(Reflect.get({}, 'polluted'), undefined)
})
