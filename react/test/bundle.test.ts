import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const entry = new URL('../src/index.ts', import.meta.url).pathname

it('All components with the client are below 60 kB gzipped, React aside', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    ...{ bundle: true, write: false, metafile: true, minify: true, format: 'esm', target: 'es2022', jsx: 'automatic' },
    external: ['react', 'react-dom'],
    conditions: ['source'],
  })
  const [output] = Object.values(metafile.outputs)
  const imported = new Set(output?.imports.map(({ path }) => path))
  expect(imported).toEqual(new Set(['react', 'react/jsx-runtime', 'react-dom']))
  const size = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
  expect(size).toBeGreaterThan(10_000)
  expect(size).toBeLessThan(60_000)
})
