import type { InstallableCli } from './clis.ts'

/** Agents without an adapter of their own, which the tests run over `acp()`, in the version they were tested with. */
export const ACP_CLIS: readonly InstallableCli[] = [
  {
    id: 'copilot',
    title: 'GitHub Copilot',
    command: 'copilot',
    npm: { package: '@github/copilot', version: '1.0.102' },
  },
  { id: 'gemini', title: 'Gemini CLI', command: 'gemini', npm: { package: '@google/gemini-cli', version: '0.61.0' } },
  { id: 'grok', title: 'Grok', command: 'grok', npm: { package: '@xai-official/grok', version: '1.0.41' } },
  { id: 'qwen-code', title: 'Qwen Code', command: 'qwen', npm: { package: '@qwen-code/qwen-code', version: '0.24.4' } },
]
