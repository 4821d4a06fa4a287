/** What programs over ACP do alike in the runs that were recorded with the same scripts. */
export const ACP_RUNS: Readonly<Record<string, readonly string[]>> = {
  'command-fails': ['command echo bad; exit 3 → 3 ✗', 'agent: Done.'],
  commands: [
    'agent: I run it.',
    'command echo fine > /dev/null && echo fine → 0',
    'command echo bad; exit 3 → 3 ✗',
    'command echo one > /dev/null; echo one → 0',
    'command echo two > /dev/null; echo two → 0',
    'agent: Done.',
  ],
  aborted: ['command touch started.txt; tail -f /dev/null ✗'],
}

/** What Goose and Cline do alike besides. */
export const SMALL_ACP_RUNS: Readonly<Record<string, readonly string[]>> = {
  'read-range': ['read /workspace/hello.txt:2-4', 'agent: Done.'],
  refused: ['command echo fine > /dev/null && echo fine ✗', 'agent: Done.'],
  declined: ['command touch a.txt ✗', 'agent: Done.'],
  'skill-and-mcp': ['skill greet /workspace/skills/greet/SKILL.md', 'unknown', 'agent: Done.'],
}
