import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { SECRET_DETECTORS } from './detectors.ts'
import { redactSecrets } from './redact-secrets.ts'

const redact = redactSecrets()
/** Joined at run time, so that no secret scanner takes the examples for real secrets. */
const of = (...parts: string[]): string => parts.join('')
const x = (length: number): string => 'aB3dE5gH7jK9'.repeat(10).slice(0, length)

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'anthropic-key': [of('sk-', 'ant-api03-', x(40))],
  'openrouter-key': [of('sk-', 'or-v1-', x(40))],
  'openai-key': [of('sk-', 'proj-', x(40)), of('sk-', x(48))],
  'google-key': [of('AI', 'za', x(35))],
  'google-token': [of('ya', '29.', x(40))],
  'groq-key': [of('gsk', '_', x(40))],
  'xai-key': [of('xai', '-', x(60))],
  'huggingface-token': [of('hf', '_', x(34))],
  'replicate-token': [of('r8', '_', x(37))],
  'aws-key-id': [of('AK', 'IA', 'ABCDEFGHIJ234567')],
  'github-token': [of('gh', 'p_', x(36)), of('github', '_pat_', x(60))],
  'gitlab-token': [of('gl', 'pat-', x(20))],
  'npm-token': [of('npm', '_', x(36))],
  'pypi-token': [of('pypi', '-', x(60))],
  'slack-token': [of('xo', 'xb-', '123456789012-', x(24))],
  'stripe-key': [of('sk', '_live_', x(24)), of('rk', '_test_', x(24))],
  'stripe-webhook': [of('wh', 'sec_', x(32))],
  'sendgrid-key': [of('SG', '.', x(22), '.', x(43))],
  'twilio-key': [of('SK', '0123456789abcdef0123456789abcdef')],
  'telegram-token': [of('123456789', ':AA', x(33))],
  'digitalocean-token': [of('do', 'p_v1_', '0123456789abcdef'.repeat(4))],
  'vault-token': [of('hv', 's.', x(30))],
  'json-web-token': [of('ey', 'J', x(20), '.ey', 'J', x(30), '.', x(43))],
}

suite('a secret is removed and marked', () => {
  for (const [name, examples] of Object.entries(EXAMPLES)) {
    test(name, () => {
      for (const secret of examples) {
        const text = redact(`before ${secret} "${secret}" (${secret})`)
        assert.ok(!text.includes(secret), text)
        assert.equal(text, `before [redacted: ${name}] "[redacted: ${name}]" ([redacted: ${name}])`)
      }
    })
  }

  test('a private key, even one that was cut off or is written in one line', () => {
    const [begin, end] = [of('-----BEGIN RSA PRIV', 'ATE KEY-----'), of('-----END RSA PRIV', 'ATE KEY-----')]
    const body = `MIIEow\n${x(60)}\n${x(20)}==`
    assert.equal(redact(`a\n${begin}\n${body}\n${end}\nb`), 'a\n[redacted: private-key]\nb')
    assert.equal(redact(`${begin}\\n${x(60)}\\n${end}`), '[redacted: private-key]')
    assert.equal(redact(`${begin}\n${body}`), '[redacted: private-key]')
  })

  test('in a URL only the password is removed, and in an assignment or a header only the value', () => {
    assert.equal(
      redact('postgres://ada:pa55word@db.example/x and https://example.org/a:b@c'),
      'postgres://ada:[redacted: url-password]@db.example/x and https://example.org/a:b@c',
    )
    assert.equal(redact('ftp://ada:p@55:w@rd@host/a@b'), 'ftp://ada:[redacted: url-password]@host/a@b')
    assert.equal(
      redact('Authorization: Bearer abcdefghijklmnop1234'),
      'Authorization: Bearer [redacted: authorization]',
    )
    assert.equal(redact('MY_API_KEY=abcd1234efgh'), 'MY_API_KEY=[redacted: assigned-secret]')
    const nested = (value: string): string => JSON.stringify({ text: `{"client_secret":"${value}"}` })
    for (const written of [
      JSON.stringify({ client_secret: 'abcd1234efgh' }),
      nested('abcd1234efgh'),
      nested('ab\\cdefgh'),
    ]) {
      const redacted = redact(written)
      assert.equal(redacted, written.replace(/ab[^"]*?(?=\\?")/, '[redacted: assigned-secret]'))
      assert.doesNotThrow(() => JSON.parse(redacted))
    }
    assert.equal(
      redact(`${of('https://hooks.sl', 'ack.com/services/')}T000/B000/${x(24)}`),
      of('https://hooks.sl', 'ack.com/services/[redacted: slack-webhook]'),
    )
  })
})

suite('the redactor', () => {
  test('leaves ordinary text alone', () => {
    for (const text of [
      'The task-master asked for sk-1 and the api key.',
      'const password = input.value',
      'git commit -m "risk-assessment-of-everything-we-have-done"',
      'https://example.org/path?x=1#y',
      'sha256-abcdef0123456789abcdef0123456789',
      'a basic understanding of the bearer of news',
    ]) {
      assert.equal(redact(text), text)
    }
  })

  test('leaves its own output as it is', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.string(), fc.constantFrom(...Object.values(EXAMPLES).flat(), 'password=', 'https://a:', '@')),
        ),
        (parts) => {
          const once = redact(parts.join(''))
          assert.equal(redact(once), once)
        },
      ),
    )
  })

  test('removes the same from a streamed text as from the whole text, wherever the pieces end', () => {
    const key = `-----BEGIN RSA ${of('PRIV', 'ATE')} KEY-----\n${x(64)}\n${x(64)}\n-----END RSA ${of('PRIV', 'ATE')} KEY-----`
    const word = fc.constantFrom(
      ...Object.values(EXAMPLES).flat(),
      key,
      `Authorization: Bearer ${x(30)}`,
      `authorization : bearer ${x(30)}`,
      `password = "${x(12)}"`,
      `API_KEY=${x(20)}`,
      `https://ada:${x(10)}@example.com`,
      '-----BEGIN CERTIFICATE-----',
      '-----BEGIN ',
      ...'the bearer password = : secret Basic a\u00a0b 🙂'.split(' '),
    )
    const space = fc.constantFrom(' ', '\n', '  ', '\t', ' ', '')
    fc.assert(
      fc.property(
        fc.array(fc.tuple(word, space), { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 }),
        (words, sizes) => {
          const text = words.flat().join('')
          let shown = ''
          let held = ''
          for (let at = 0, piece = 0; at < text.length; piece++) {
            const size = sizes[piece % sizes.length] ?? 1
            held += text.slice(at, at + size)
            at += size
            const settled = redact.settled(held)
            shown += redact(held.slice(0, settled))
            held = held.slice(settled)
          }
          assert.equal(shown + redact(held), redact(text))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('shows all but the last four words of prose while it is streamed', () => {
    assert.equal(redact.settled('This is a sentence that is going on and'), 'This is a sentence that '.length)
    assert.equal(redactSecrets({ more: [{ name: 'ticket', pattern: /T \d+/g }] }).settled('One.\nTwo, T'), 5)
  })

  test('can leave out detectors, add more, and use another replacement', () => {
    const secret = EXAMPLES['npm-token']?.[0] ?? ''
    assert.equal(redactSecrets({ except: ['npm-token'] })(secret), secret)
    assert.throws(() => redactSecrets({ except: ['nmp-token'] }), /no detector "nmp-token"/)
    const more = [{ name: 'ticket', pattern: /T-\d{6}/g }]
    assert.equal(redactSecrets({ more, replacement: (name) => `<${name}>` })('T-123456'), '<ticket>')
    assert.throws(() => redactSecrets({ more: [{ name: 'ticket', pattern: /T/ }] }), /flag g/)
  })

  test('ends soon on a text that is crafted to slow it down', () => {
    for (const piece of [
      'a',
      '-',
      'sk-',
      'secret',
      'password=',
      'https://a:',
      'eyJ',
      of('-----BEGIN PRIV', 'ATE KEY-----'),
    ]) {
      redact(piece.repeat(20_000))
    }
  })

  test('has an example here for every key that it recognises by its form alone', () => {
    const byContext = new Set(['private-key', 'slack-webhook', 'url-password', 'authorization', 'assigned-secret'])
    assert.deepEqual(
      SECRET_DETECTORS.map(({ name }) => name).filter((name) => !byContext.has(name)),
      Object.keys(EXAMPLES),
    )
  })
})
