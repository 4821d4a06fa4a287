import { ACP_RUNS } from './acp/acp-runs.ts'

/** What OpenCode and Kilo Code, which is built on it, do alike over ACP. */
export const OPENCODE_ACP_RUNS: Readonly<Record<string, readonly string[]>> = {
  ...ACP_RUNS,
  files: [
    'read /workspace/hello.txt:2-4',
    'read /workspace/missing.txt ✗',
    'list /workspace/src',
    'search needle',
    'search **/*.js',
    'write /workspace/new.txt',
    'write /workspace/src/app.js',
    'write /workspace/src/app.js ✗',
    'agent: Done.',
  ],
  // A declined call ends the turn.
  declined: ['command touch a.txt ✗'],
  'skill-and-mcp': ['skill greet /workspace/.agents/skills/greet/SKILL.md', 'unknown', 'agent: Done.'],
  unauthorized: ['error [-32603]: Internal error: invalid key'],
}
