import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { EVERYTHING, filesystem, McpBench, misbehaving, modern } from './mcp-bench.fixture.ts'

suite('the server that has everything', () => {
  test('is connected in the background and lists its tools under names of its own', async () => {
    // A busy machine may take long to start it.
    await using bench = new McpBench({ every: EVERYTHING }, { discoveryWait: 60_000 })
    assert.deepEqual([bench.info('every')?.status, bench.info('every')?.tools], ['connecting', []])
    const tools = await bench.servers.list()
    assert.equal(bench.info('every')?.status, 'connected')
    const echo = tools.find(({ name }) => name === 'every_echo')
    assert.deepEqual([echo?.serverName, echo?.category], ['every', 'mcp'])
    const info = bench.info('every')?.tools.find(({ toolName }) => toolName === 'echo')
    assert.deepEqual([info?.name, info?.serverName], ['every_echo', 'every'])
    assert.deepEqual(
      bench.events.map(({ type }) => type),
      ['mcp-server-discovery-started', 'mcp-server-discovery-completed'],
    )
  })

  test('answers calls with text, structure, images and resources', async () => {
    await using bench = await McpBench.ready({ every: EVERYTHING })
    assert.deepEqual(await bench.call('every_echo', { message: 'Hi' }), { result: 'Echo: Hi' })

    const structured = await bench.call('every_get-structured-content', { location: 'New York' })
    assert.ok('result' in structured && structured.isError === undefined)
    assert.match(JSON.stringify(structured.result), /structuredContent/)

    const image = await bench.call('every_get-tiny-image')
    assert.ok('modelOutput' in image && image.modelOutput?.type === 'content')
    assert.ok(image.modelOutput.value.some((part) => part.type === 'file' && part.mediaType === 'image/png'))

    const resource = await bench.call('every_get-resource-reference', { resourceType: 'Text', resourceId: 1 })
    assert.ok('modelOutput' in resource && resource.modelOutput?.type === 'content')
    assert.match(JSON.stringify(resource.modelOutput.value), /demo:\/\/resource/)

    const links = await bench.call('every_get-resource-links', { count: 2 })
    assert.match(JSON.stringify(links), /demo:\/\/resource/)
  })

  test('shows the progress of a long call', async () => {
    await using bench = await McpBench.ready({ every: EVERYTHING })
    const seen: string[] = []
    const input = { duration: 0.2, steps: 2 }
    await bench.call('every_trigger-long-running-operation', input, { progress: (text) => seen.push(text) })
    assert.deepEqual(seen, ['1/2\n', '2/2\n'])
  })

  test('stops a call that is cancelled', async () => {
    await using bench = await McpBench.ready({ every: EVERYTHING })
    const abort = new AbortController()
    const calling = bench.call(
      'every_trigger-long-running-operation',
      { duration: 600, steps: 600 },
      { signal: abort.signal, progress: () => abort.abort() },
    )
    await assert.rejects(calling)
    assert.deepEqual(await bench.call('every_echo', { message: 'still there' }), { result: 'Echo: still there' })
  })

  test('reports what it refuses as a failed call', async () => {
    await using bench = await McpBench.ready({ every: EVERYTHING })
    const refused = await bench.call('every_get-sum', { a: 'one' }).catch((error: unknown) => ({ thrown: error }))
    assert.ok('thrown' in refused || ('result' in refused && refused.isError === true))
  })
})

test('the file system server reads and writes in its folder only', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-mcp-files-'))
  await writeFile(join(folder, 'note.txt'), 'hello')
  await using bench = await McpBench.ready({ fs: filesystem(folder) })
  const read = await bench.call('fs_read_text_file', { path: join(folder, 'note.txt') })
  assert.match(JSON.stringify(read), /hello/)
  const outside = await bench.call('fs_read_text_file', { path: '/etc/hostname' })
  assert.ok('result' in outside && outside.isError === true)
  await bench.call('fs_write_file', { path: join(folder, 'new.txt'), content: 'new' })
  assert.equal(await readFile(join(folder, 'new.txt'), 'utf8'), 'new')
  await rm(folder, { recursive: true })
})

suite('when the configuration changes', () => {
  test('servers that stay the same keep their connection', async () => {
    await using bench = await McpBench.ready({ a: misbehaving('well'), b: misbehaving('well') })
    bench.events.length = 0
    await bench.servers.update({ a: { ...misbehaving('well'), enabled: true }, c: misbehaving('well') })
    await bench.servers.settled()
    assert.deepEqual(
      bench.servers.info().map(({ name, status }) => [name, status]),
      [
        ['a', 'connected'],
        ['c', 'connected'],
      ],
    )
    const started = bench.events.filter(({ type }) => type === 'mcp-server-discovery-started')
    assert.deepEqual(
      started.map((event) => event.serverName),
      ['c'],
    )
  })

  test('a disabled server is not started', async () => {
    await using bench = await McpBench.ready({ off: { ...misbehaving('well'), enabled: false } })
    assert.deepEqual(bench.servers.info(), [{ name: 'off', status: 'disabled', tools: [] }])
    await assert.rejects(bench.servers.reconnect('off'), /disabled/)
    await assert.rejects(bench.servers.reconnect('missing'), /There is no MCP server "missing"/)
  })
})

suite('reconnecting', () => {
  test('replaces the connection, and two at once share one attempt', async () => {
    await using bench = await McpBench.ready({ a: misbehaving('well') })
    const seen: (string | undefined)[] = []
    bench.servers.watch(() => seen.push(bench.info('a')?.status))
    bench.events.length = 0
    await Promise.all([bench.servers.reconnect('a'), bench.servers.reconnect('a')])
    assert.deepEqual([...new Set(seen)], ['reconnecting', 'connected'])
    assert.deepEqual(
      bench.events.map(({ type }) => type),
      [
        'mcp-server-reconnect-started',
        'mcp-server-discovery-started',
        'mcp-server-discovery-completed',
        'mcp-server-reconnect-completed',
      ],
    )
  })

  test('restarts a server that crashed', async () => {
    await using bench = await McpBench.ready({ a: misbehaving('crash') })
    await assert.rejects(bench.call('a_change'), /MCP server "a"/)
    await bench.until(() => bench.info('a')?.status === 'error')
    assert.deepEqual(bench.info('a')?.errorDetail, { category: 'transport-eof', retriable: true })
    assert.deepEqual(bench.info('a')?.tools, [])
    await bench.servers.reconnect('a')
    assert.equal(bench.info('a')?.status, 'connected')
  })
})

suite('a local server that crashes', () => {
  test('is started again by itself, a few times', async () => {
    await using bench = await McpBench.ready({ a: misbehaving('crash') }, { restartDelay: 1 })
    for (let crash = 1; crash <= 5; crash++) {
      await assert.rejects(bench.call('a_change'), /MCP server "a"/)
      await bench.until(() => bench.info('a')?.status === 'error')
      await bench.until(() => bench.info('a')?.status === 'connected')
    }
    await assert.rejects(bench.call('a_change'), /MCP server "a"/)
    await bench.until(() => bench.info('a')?.status === 'error')
    const types = bench.events.map(({ type }) => type)
    assert.equal(types.filter((type) => type === 'mcp-server-reconnect-completed').length, 5)
    assert.equal(bench.info('a')?.errorDetail?.category, 'transport-eof')
  })

  test('is left alone once it was removed', async () => {
    await using bench = await McpBench.ready({ a: misbehaving('crash') }, { restartDelay: 1 })
    await assert.rejects(bench.call('a_change'))
    await bench.servers.update({})
    assert.deepEqual(bench.servers.info(), [])
  })
})

suite('a question of a server', () => {
  test('a question of the newest revision is kept as state and answered by repeating the call', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-mcp-ask-'))
    const journal = join(folder, 'journal')
    let state: string | undefined
    {
      await using bench = await McpBench.ready({ m: modern(journal) })
      const asked = await bench.call('m_book', { day: 'Monday' })
      assert.ok('suspend' in asked)
      const { answerSchema, description, kind, payload, resumable } = asked.suspend
      assert.deepEqual([kind, description, resumable], ['question', 'm asks: For how many?', undefined])
      assert.match(answerSchema ?? '', /guests/)
      assert.doesNotMatch(JSON.stringify(payload), /secret/)
      state = asked.suspend.state
    }
    // Another process, another connection.
    await using later = await McpBench.ready({ m: modern(journal) })
    const resume = { decision: 'answer', value: { guests: 3 } } as const
    const done = await later.call('m_book', { day: 'Monday' }, { resume, ...(state === undefined ? {} : { state }) })
    assert.deepEqual(done, { result: 'Monday: a table for 3' })
    const declined = { resume: { decision: 'decline' } as const, ...(state === undefined ? {} : { state }) }
    assert.deepEqual(await later.call('m_book', { day: 'Monday' }, declined), { result: 'Nothing was booked.' })
    assert.match(await readFile(journal, 'utf8'), /^Monday null\nMonday "secret-state-of-Monday"\n/)
    await rm(folder, { recursive: true })
  })

  test('a question of an older server waits in this process, and is lost with it', async () => {
    await using bench = await McpBench.ready({ old: misbehaving('ask') })
    const asked = await bench.call('old_change')
    assert.ok('suspend' in asked)
    assert.deepEqual([asked.suspend.description, asked.suspend.resumable], ['old asks: Who are you?', false])
    const resume = { decision: 'answer', value: { name: 'Ada' } } as const
    assert.deepEqual(await bench.call('old_change', {}, { resume }), {
      result: '{"action":"accept","content":{"name":"Ada"}}',
    })
    const lost = await bench.call('old_change', {}, { resume, idempotencyKey: 'r:other' })
    assert.ok('result' in lost && lost.isError === true)
    assert.match(JSON.stringify(lost.result), /is unknown/)
  })

  test('a question of an older server that does not wait: the late answer gets the result', async () => {
    await using bench = await McpBench.ready({ old: misbehaving('ask', 'impatient') })
    assert.ok('suspend' in (await bench.call('old_change')))
    await new Promise(setImmediate)
    const resume = { decision: 'answer', value: { name: 'Ada' } } as const
    assert.deepEqual(await bench.call('old_change', {}, { resume }), { result: 'impatient' })
  })
})

test('tools that change are listed anew', async () => {
  await using bench = await McpBench.ready({ a: misbehaving('change') })
  const [before, twice] = await bench.servers.list()
  assert.deepEqual([before?.description, twice], ['Generation 0.', undefined])
  await bench.call('a_change')
  await bench.until(() => bench.info('a')?.tools[0]?.description === 'Generation 1.')
  assert.equal((await bench.servers.list())[0]?.description, 'Generation 1.')

  const folder = await mkdtemp(join(tmpdir(), 'inspan-mcp-grow-'))
  await using newest = await McpBench.ready({ m: modern(join(folder, 'journal')) })
  await newest.call('m_grow')
  await newest.until(() => newest.info('m')?.tools.some(({ toolName }) => toolName === 'grown') === true)
  await rm(folder, { recursive: true })
})
