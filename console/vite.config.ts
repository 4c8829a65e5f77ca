import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The service puts a new nonce in its place with each answer (server/src/http/console.ts). */
const cspNonce = '__CSP_NONCE__'

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  html: { cspNonce },
  // The client is read from its sources.
  resolve: { conditions: ['source', 'module', 'browser', 'development|production'] },
  build: {
    target: 'es2022',
    outDir: 'dist',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_200,
  },
  // For work on the console: `npm run dev -w console` beside a running service.
  server: { proxy: { '/admin': { target: 'http://127.0.0.1:3000', changeOrigin: false } } },
})
