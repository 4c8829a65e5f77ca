import { defineConfig } from 'vitest/config'

/** The gate of the repository, over tests that fail, fall and stumble. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.sample.ts'],
    retry: 1,
    runner: '../runner.ts',
    reporters: ['tap-flat', '../reporter.ts'],
  },
})
