import { createPolicy, type PatternRule } from '@inspan/core'

const shell = (policy: PatternRule['policy'], ...patterns: string[]): PatternRule[] =>
  patterns.map((pattern) => ({ tool: 'execute_command', pattern, policy }))

const policy = createPolicy({
  rules: {
    categories: { read: 'allow', edit: 'ask', execute: 'ask' },
    tools: { web_search: 'deny' },
    patterns: [
      { tool: 'execute_command', pattern: 'git log *', policy: 'allow', match: ['git log -1'], notMatch: ['git push'] },
      ...shell('allow', 'git status *', 'git diff *', 'npm test *', 'cd *', 'ls *', 'head *', 'tail *', 'echo *'),
      ...shell('ask', 'git push *'),
      ...shell('deny', 'rm -rf *'),
      { tool: 'read_file', pattern: '.env*', policy: 'deny' },
    ],
  },
})

for (const command of [
  'cd packages/core && npm test 2>&1 | tail -20',
  'git status && npm install',
  'git log > history.txt',
  'npm test; rm -fr dist',
  'cat .env',
  'grep -rn TODO src',
]) {
  const { policy: verdict, reason } = policy.decide(
    { toolCallId: '1', toolName: 'execute_command', args: { command } },
    {},
  )
  console.log(`${verdict}: ${reason}`)
}
