#!/usr/bin/env node
import { existsSync } from 'node:fs'

const entry = new URL('../dist/cli/main.js', import.meta.url)
if (existsSync(entry)) {
  await import(entry.href)
} else {
  console.error('parley: it has not been built yet; run "npm run build" first')
  process.exitCode = 1
}
