/** Finds one kind of secret in a text. */
export interface SecretDetector {
  readonly name: string
  /** Has the flag `g`. A group named `secret` is what is removed; without one it is the whole match. */
  readonly pattern: RegExp
}

/** Where a secret can begin and end: not inside a longer word. */
const START = '(?<![A-Za-z0-9_])'
const END = '(?![A-Za-z0-9_])'

function key(name: string, pattern: string): SecretDetector {
  return { name, pattern: new RegExp(`${START}${pattern}${END}`, 'g') }
}

/** Secrets that can be told by their form. */
export const SECRET_DETECTORS: readonly SecretDetector[] = [
  {
    name: 'private-key',
    // The end may be missing where a text was cut.
    pattern:
      /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]{0,8192}?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\:,-]{0,8192})/g,
  },
  key('anthropic-key', 'sk-ant-[A-Za-z0-9_-]{16,}'),
  key('openrouter-key', 'sk-or-[A-Za-z0-9_-]{16,}'),
  key('openai-key', 'sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}'),
  key('google-key', 'AIza[A-Za-z0-9_-]{35}'),
  key('google-token', 'ya29\\.[A-Za-z0-9_-]{20,}'),
  key('groq-key', 'gsk_[A-Za-z0-9]{20,}'),
  key('xai-key', 'xai-[A-Za-z0-9]{20,}'),
  key('huggingface-token', 'hf_[A-Za-z0-9]{20,}'),
  key('replicate-token', 'r8_[A-Za-z0-9]{30,}'),
  key('aws-key-id', '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}'),
  key('github-token', '(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})'),
  key('gitlab-token', 'gl(?:pat|ptt|dt|rt|cbt|oas|ft|soat)-[A-Za-z0-9_-]{20,}'),
  key('npm-token', 'npm_[A-Za-z0-9]{30,}'),
  key('pypi-token', 'pypi-[A-Za-z0-9_-]{40,}'),
  key('slack-token', 'xox[abeoprs]-[A-Za-z0-9-]{10,}'),
  {
    name: 'slack-webhook',
    pattern: /https:\/\/hooks\.slack\.com\/(?:services|workflows)\/(?<secret>[A-Za-z0-9/_-]{20,})/g,
  },
  key('stripe-key', '(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}'),
  key('stripe-webhook', 'whsec_[A-Za-z0-9+/=]{20,}'),
  key('sendgrid-key', 'SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}'),
  key('twilio-key', 'SK[0-9a-f]{32}'),
  key('telegram-token', '[0-9]{8,10}:AA[A-Za-z0-9_-]{33}'),
  key('digitalocean-token', 'do[op]_v1_[a-f0-9]{64}'),
  key('vault-token', 'hv[sbr]\\.[A-Za-z0-9_-]{24,}'),
  key('json-web-token', 'eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}'),
  {
    name: 'url-password',
    pattern: /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s/?#:@"'<>]{0,256}:(?<secret>[^\s/?#"'<>]{1,256})@/gi,
  },
  {
    name: 'authorization',
    pattern: /\b(?:authorization["']?\s*[:=]\s*["']?)?(?:bearer|basic)\s+(?<secret>[A-Za-z0-9._~+/-]{16,}=*)/gi,
  },
  {
    name: 'assigned-secret',
    // `API_KEY=…`, `"client_secret": "…"`: the name says that the value is one. In code it may be another name, so that
    // a value without quotes has to have a digit. Within JSON in a text, quotes have a backslash.
    pattern:
      /(?:api[_-]?key|secret(?:[_-]?(?:access[_-]?)?key)?|access[_-]?token|auth[_-]?token|passw(?:or)?d|private[_-]?key)\\?["']?\s*[:=]\s*\\?["']?(?:(?<=["'])|(?=[^\s"'`,;)}\]]{0,256}\d))(?<secret>(?:[^\s"'`,;)}\]\\]|\\(?!["'])){8,256})/gi,
  },
]
