import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { WorkspaceBench } from './workspace.fixture.ts'

suite('read_file', () => {
  test('returns a whole file, and reports what it read', async () => {
    await using bench = new WorkspaceBench()
    writeFileSync(join(bench.root, 'a.txt'), 'one\ntwo\n')
    const { activity, result } = await bench.call('read_file', { path: 'a.txt' })
    assert.equal(result, 'one\ntwo\n')
    const [event] = activity?.events ?? []
    assert.deepEqual({ ...event, timestamp: '' }, { type: 'read', path: 'a.txt', isSuccess: true, timestamp: '' })
  })

  test('returns a range of lines, and explains how to continue', async () => {
    await using bench = new WorkspaceBench()
    writeFileSync(join(bench.root, 'a.txt'), Array.from({ length: 10 }, (_, index) => `${index + 1}\n`).join(''))
    const { activity, result } = await bench.call('read_file', { path: 'a.txt', offset: 4, limit: 2 })
    assert.equal(result, '4\n5\n[lines 4 to 5 of 10; go on with offset 6]')
    const [event] = activity?.events ?? []
    assert.ok(event?.type === 'read' && event.startLine === 4 && event.endLine === 5)
    assert.match(await bench.refusal('read_file', { path: 'a.txt', offset: 11 }), /only 10 lines/)
  })

  test('cuts a result at its limit of tokens', async () => {
    await using bench = new WorkspaceBench({ tools: { read_file: { maxOutputTokens: 5 } } })
    writeFileSync(join(bench.root, 'a.txt'), 'x'.repeat(100))
    assert.match(await bench.text('read_file', { path: 'a.txt' }), /^x{20}\n\[lines 1 to 1 of 1\]$/)
  })

  test('shows an image to the model, and no other binary file', async () => {
    await using bench = new WorkspaceBench()
    writeFileSync(join(bench.root, 'a.png'), Buffer.from([137, 80, 78, 71, 0, 1]))
    writeFileSync(join(bench.root, 'a.bin'), Buffer.from([0, 1, 2]))
    const image = await bench.call('read_file', { path: 'a.png' })
    assert.equal(image.modelOutput?.type, 'content')
    const binary = await bench.call('read_file', { path: 'a.bin' })
    assert.deepEqual([binary.result, binary.modelOutput], ['a.bin is a binary file of 3 bytes.', undefined])
  })

  test('refuses what is missing, a folder and a pipe, with a clear message', async () => {
    await using bench = new WorkspaceBench()
    mkdirSync(join(bench.root, 'folder'))
    await bench.result('execute_command', { command: 'mkfifo pipe' })
    assert.equal(await bench.refusal('read_file', { path: 'no.txt' }), 'There is no no.txt.')
    assert.match(await bench.refusal('read_file', { path: 'folder' }), /is not a file/)
    assert.match(await bench.refusal('read_file', { path: 'pipe' }), /is not a file/)
  })
})

suite('write_file', () => {
  test('creates a file and the folders above it', async () => {
    await using bench = new WorkspaceBench()
    assert.equal(
      await bench.result('write_file', { path: 'a/b/c.txt', content: 'x\ny\n' }),
      'Created a/b/c.txt (2 lines, 4 bytes).',
    )
    assert.equal(readFileSync(join(bench.root, 'a/b/c.txt'), 'utf8'), 'x\ny\n')
  })

  test('keeps the mode and the line ends of a file, and leaves nothing next to it', async () => {
    await using bench = new WorkspaceBench()
    const file = join(bench.root, 'run.bat')
    writeFileSync(file, '\u{FEFF}one\r\ntwo\r\n')
    chmodSync(file, 0o751)
    await bench.result('write_file', { path: 'run.bat', content: 'three\nfour\n' })
    assert.equal(readFileSync(file, 'utf8'), '\u{FEFF}three\r\nfour\r\n')
    assert.equal(statSync(file).mode & 0o7777, 0o751)
    assert.deepEqual(readdirSync(bench.root), ['run.bat'])
  })

  test('replaces a file at once: a reader never sees a part of it', async () => {
    await using bench = new WorkspaceBench()
    const [one, two] = ['1', '2'].map((digit) => digit.repeat(2_000_000)) as [string, string]
    const file = join(bench.root, 'a.txt')
    writeFileSync(file, one)
    const reader = spawn(
      process.execPath,
      [
        '-e',
        `const fs = require('node:fs')
         process.stdout.write('ready')
         for (;;) {
           const text = fs.readFileSync(process.argv[1], 'latin1')
           if (text.length !== 2_000_000 || text[0] !== text.at(-1)) process.exit(1)
         }`,
        file,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    await once(reader.stdout, 'data')
    for (let count = 0; count < 100; count++) {
      await bench.result('write_file', { path: 'a.txt', content: count % 2 === 0 ? two : one })
    }
    const ended = once(reader, 'exit')
    reader.kill('SIGKILL')
    assert.deepEqual(await ended, [null, 'SIGKILL'])
  })

  test('writes through a link that stays inside', async () => {
    await using bench = new WorkspaceBench()
    writeFileSync(join(bench.root, 'real.txt'), 'a')
    symlinkSync('real.txt', join(bench.root, 'link.txt'))
    await bench.result('write_file', { path: 'link.txt', content: 'b' })
    assert.equal(readFileSync(join(bench.root, 'real.txt'), 'utf8'), 'b')
  })

  test('refuses a read-only file, a folder and missing content', async () => {
    await using bench = new WorkspaceBench()
    writeFileSync(join(bench.root, 'fixed.txt'), 'a', { mode: 0o444 })
    mkdirSync(join(bench.root, 'folder'))
    assert.match(await bench.refusal('write_file', { path: 'fixed.txt', content: 'b' }), /read-only/)
    assert.match(await bench.refusal('write_file', { path: 'folder', content: 'b' }), /is not a file/)
    assert.match(await bench.refusal('write_file', { path: 'x' }), /`content` is missing/)
  })
})

suite('with requireReadBeforeWrite', () => {
  const tools = {
    write_file: { requireReadBeforeWrite: true },
    edit_file: { requireReadBeforeWrite: true },
    delete: { requireReadBeforeWrite: true },
  }

  test('a file that was not read is not changed; a new one is', async () => {
    await using bench = new WorkspaceBench({ tools })
    writeFileSync(join(bench.root, 'a.txt'), 'a')
    for (const [name, input] of [
      ['write_file', { path: 'a.txt', content: 'b' }],
      ['edit_file', { path: 'a.txt', old_string: 'a', new_string: 'b' }],
      ['delete', { path: 'a.txt' }],
    ] as const) {
      assert.match(await bench.refusal(name, input), /was not read yet/)
    }
    await bench.result('write_file', { path: 'new.txt', content: 'b' })
    await bench.result('write_file', { path: 'new.txt', content: 'c' })
    await bench.result('read_file', { path: 'a.txt' })
    await bench.result('write_file', { path: 'a.txt', content: 'b' })
  })

  test('a file that somebody changed after it was read is not changed, nor one that another thread read', async () => {
    await using bench = new WorkspaceBench({ tools })
    writeFileSync(join(bench.root, 'a.txt'), 'a')
    await bench.result('read_file', { path: 'a.txt' })
    writeFileSync(join(bench.root, 'a.txt'), 'by a person')
    assert.match(await bench.refusal('write_file', { path: 'a.txt', content: 'b' }), /has changed since it was read/)
    await bench.result('read_file', { path: 'a.txt' })
    assert.match(
      await bench.refusal('write_file', { path: 'a.txt', content: 'b' }, { threadId: 'other' }),
      /was not read yet/,
    )
    assert.equal(readFileSync(join(bench.root, 'a.txt'), 'utf8'), 'by a person')
  })
})

suite('edit_file', () => {
  const edit = async (before: string, input: object): Promise<string> => {
    await using bench = new WorkspaceBench()
    writeFileSync(join(bench.root, 'a.ts'), before)
    const { isError, result } = await bench.call('edit_file', { path: 'a.ts', ...input })
    return isError === true ? `refused: ${JSON.stringify(result)}` : readFileSync(join(bench.root, 'a.ts'), 'utf8')
  }

  test('replaces an exact text', async () => {
    assert.equal(await edit('a b a\n', { old_string: ' b ', new_string: '-' }), 'a-a\n')
  })

  test('replaces lines that differ only in white space, and keeps their indentation', async () => {
    const before = 'class A {\n    run() {  \n        return 1\n    }\n}\n'
    const after = await edit(before, { old_string: 'run() {\n    return 1\n}', new_string: 'run() {\n    return 2\n}' })
    assert.equal(after, 'class A {\n    run() {\n        return 2\n    }\n}\n')
  })

  test('keeps the line ends of a file whose lines end with a carriage return', async () => {
    assert.equal(await edit('a\r\nb\r\nc\r\n', { old_string: 'a\nb', new_string: 'x\ny' }), 'x\r\ny\r\nc\r\n')
  })

  test('refuses a text that occurs several times, unless all are meant', async () => {
    assert.match(await edit('x\ny\nx\n', { old_string: 'x', new_string: 'z' }), /occurs 2 times, in lines 1, 3/)
    assert.equal(await edit('x\ny\nx\n', { old_string: 'x', new_string: 'z', replace_all: true }), 'z\ny\nz\n')
  })

  test('refuses what is not there, and an edit that changes nothing', async () => {
    assert.match(await edit('x\n', { old_string: 'q', new_string: 'z' }), /not in the file/)
    assert.match(await edit('x\n', { old_string: 'x', new_string: 'x' }), /are the same/)
    assert.match(await edit('x\n', { old_string: '', new_string: 'x' }), /is empty/)
  })

  test('makes several edits, all or none', async () => {
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'b', new_string: 'c' },
    ]
    assert.equal(await edit('a\n', { edits }), 'c\n')
    await using bench = new WorkspaceBench()
    writeFileSync(join(bench.root, 'a.ts'), 'a\n')
    const broken = [...edits, { old_string: 'q', new_string: 'r' }]
    await bench.refusal('edit_file', { path: 'a.ts', edits: broken })
    assert.equal(readFileSync(join(bench.root, 'a.ts'), 'utf8'), 'a\n')
  })

  test('takes a dollar sign in the new text as it is', async () => {
    assert.equal(await edit('a\n', { old_string: 'a', new_string: '$& $1' }), '$& $1\n')
  })
})

suite('list_files', () => {
  test('leaves out what .gitignore files name, the nearest one first', async () => {
    await using bench = new WorkspaceBench()
    for (const folder of ['src/deep', 'dist', '.git/objects']) mkdirSync(join(bench.root, folder), { recursive: true })
    writeFileSync(join(bench.root, '.gitignore'), 'dist/\n*.log\n')
    writeFileSync(join(bench.root, 'src/.gitignore'), '!keep.log\n')
    for (const file of ['a.ts', 'a.log', 'src/keep.log', 'src/b.log', 'src/deep/c.ts', 'dist/out.js']) {
      writeFileSync(join(bench.root, file), '')
    }
    assert.equal(
      await bench.result('list_files', {}),
      '.gitignore\na.ts\nsrc/\nsrc/.gitignore\nsrc/deep/\nsrc/deep/c.ts\nsrc/keep.log',
    )
    assert.equal(await bench.result('list_files', { path: 'src', depth: 1 }), 'src/.gitignore\nsrc/deep/\nsrc/keep.log')
    assert.match(await bench.text('list_files', { all: true }), /dist\/out\.js/)
  })

  test('takes .gitignore as git does: no link, no pipe, and capital letters are others', async () => {
    await using bench = new WorkspaceBench()
    writeFileSync(join(bench.outside, 'secret.txt'), 'guessed\n')
    symlinkSync(join(bench.outside, 'secret.txt'), join(bench.root, '.gitignore'))
    mkdirSync(join(bench.root, 'pipe'))
    execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', join(bench.root, 'pipe/.gitignore')])
    mkdirSync(join(bench.root, 'plain'))
    writeFileSync(join(bench.root, 'plain/.gitignore'), '*.log\n')
    for (const path of ['guessed', 'plain/a.log', 'plain/A.LOG']) writeFileSync(join(bench.root, path), '')
    assert.equal(
      await bench.result('list_files', {}),
      '.gitignore (link)\nguessed\npipe/\npipe/.gitignore\nplain/\nplain/.gitignore\nplain/A.LOG',
    )
  })

  test('reports that a path is missing or is no folder, as grep does, and names no descriptor', async () => {
    await using bench = new WorkspaceBench()
    writeFileSync(join(bench.root, 'a.txt'), 'a')
    assert.equal(await bench.refusal('list_files', { path: 'no' }), 'There is no no.')
    assert.equal(await bench.refusal('grep', { path: 'no', pattern: 'a' }), 'There is no no.')
    assert.equal(await bench.refusal('list_files', { path: 'a.txt' }), 'a.txt: a part of the path is not a folder.')
  })

  test('does not follow links, and reports how much it left out', async () => {
    await using bench = new WorkspaceBench({ tools: { list_files: { maxOutputTokens: 5 } } })
    symlinkSync('.', join(bench.root, 'again'))
    for (const name of ['b', 'c', 'd', 'e', 'f', 'g']) writeFileSync(join(bench.root, name), '')
    assert.equal(await bench.result('list_files', {}), 'again (link)\nb\nc\nd\n[3 more]')
  })
})

suite('grep', () => {
  test('returns matching lines with their files and numbers', async () => {
    await using bench = new WorkspaceBench()
    mkdirSync(join(bench.root, 'src'))
    writeFileSync(join(bench.root, 'src/a.ts'), 'const one = 1\r\nconst two = 2\r\n')
    writeFileSync(join(bench.root, 'b.md'), 'CONST\n')
    writeFileSync(join(bench.root, 'c.bin'), 'const\0')
    assert.equal(await bench.result('grep', { pattern: 'const (t|z)' }), 'src/a.ts:2: const two = 2')
    assert.equal(await bench.result('grep', { pattern: '^const$', ignore_case: true, glob: '*.md' }), 'b.md:1: CONST')
    assert.equal(await bench.result('grep', { pattern: 'one', path: 'src/a.ts' }), 'src/a.ts:1: const one = 1')
    assert.equal(await bench.result('grep', { pattern: 'nowhere' }), 'No matches.')
    assert.match(await bench.text('grep', { pattern: 'const', limit: 1 }), /1: const one = 1\n\[there are more/)
    assert.match(await bench.refusal('grep', { pattern: '(' }), /not a regular expression/)
  })

  test('ends on a pattern that backtracks without end, whatever it contains', async () => {
    await using bench = new WorkspaceBench()
    writeFileSync(join(bench.root, 'a.txt'), `${'a'.repeat(200)}!\n`)
    assert.equal(await bench.result('grep', { pattern: '(a+)+$' }), 'No matches.')
    assert.match(await bench.refusal('grep', { pattern: '(a*)*\\1b' }), /The pattern takes too long/)
    assert.equal(await bench.result('grep', { pattern: 'a!(?!b)' }), `a.txt:1: ${'a'.repeat(200)}!`)
  })

  test('takes a line for itself: what follows in the next one does not count', async () => {
    await using bench = new WorkspaceBench()
    writeFileSync(join(bench.root, 'a.txt'), 'call\n(x)\n')
    assert.equal(await bench.result('grep', { pattern: 'call(?!\\s*\\()' }), 'a.txt:1: call')
  })
})

suite('delete, mkdir and file_stat', () => {
  test('delete a file; a folder only when that is asked for; never the workspace', async () => {
    await using bench = new WorkspaceBench()
    await bench.result('write_file', { path: 'a/b/c.txt', content: '' })
    assert.match(await bench.refusal('delete', { path: 'a' }), /not empty/)
    await bench.result('delete', { path: 'a/b/c.txt' })
    await bench.result('write_file', { path: 'a/b/d.txt', content: '' })
    symlinkSync(bench.outside, join(bench.root, 'a/out'))
    writeFileSync(join(bench.outside, 'kept.txt'), '')
    await bench.result('delete', { path: 'a', recursive: true })
    assert.deepEqual([readdirSync(bench.root), readdirSync(bench.outside)], [[], ['kept.txt']])
    assert.match(await bench.refusal('delete', { path: '.', recursive: true }), /cannot be deleted/)
    assert.match(await bench.refusal('delete', { path: 'no' }), /There is no no/)
  })

  test('make folders, and list what is there', async () => {
    await using bench = new WorkspaceBench()
    await bench.result('mkdir', { path: 'x/y' })
    await bench.result('mkdir', { path: 'x/y' })
    writeFileSync(join(bench.root, 'x/f'), 'abc', { mode: 0o640 })
    const there = (await bench.result('file_stat', { path: 'x/f' })) as Record<string, unknown>
    assert.deepEqual([there['type'], there['size'], there['mode']], ['file', 3, '0640'])
    assert.deepEqual(await bench.result('file_stat', { path: 'no' }), { path: 'no', exists: false })
    assert.match(await bench.refusal('mkdir', { path: 'x/f' }), /exists already/)
  })
})
