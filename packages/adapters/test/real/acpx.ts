import type { InstallableCli } from './clis.ts'

/** The command-line client of the Agent Client Protocol. It drives `inspan acp` in a test on real programs. */
export const ACPX: InstallableCli = {
  id: 'acpx',
  title: 'acpx',
  command: 'acpx',
  npm: { package: 'acpx', version: '0.19.1' },
}
