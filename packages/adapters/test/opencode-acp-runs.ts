/** What OpenCode and Kilo Code, which is built on it, do alike over ACP. */
export const OPENCODE_ACP_RUNS: Readonly<Record<string, readonly string[]>> = {
  'command-fails': ['command echo bad; exit 3 → 3 ✗', 'agent: Done.'],
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
  commands: [
    'agent: I run it.',
    'command echo fine > /dev/null && echo fine → 0',
    'command echo bad; exit 3 → 3 ✗',
    'command echo one > /dev/null; echo one → 0',
    'command echo two > /dev/null; echo two → 0',
    'agent: Done.',
  ],
  // A declined call ends the turn.
  declined: ['command touch a.txt ✗'],
  aborted: ['command touch started.txt; tail -f /dev/null ✗'],
  'skill-and-mcp': ['skill greet /workspace/.agents/skills/greet/SKILL.md', 'unknown', 'agent: Done.'],
  unauthorized: ['error [-32603]: Internal error: invalid key'],
}
