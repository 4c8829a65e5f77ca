import '@mantine/core/styles.css'
import './console.css'
import { type CSSVariablesResolver, createTheme, Drawer, MantineProvider, Modal } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api.ts'
import { Entrance } from './shell/Entrance.tsx'
import { Notices } from './ui/notices.tsx'

// Styles that are added while the page runs carry the nonce of the answer that the page came with.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
setNonce(nonce)

// After an upgrade of the service the parts of an open page are gone: it is loaded again, once.
window.addEventListener('vite:preloadError', () => {
  if (sessionStorage.getItem('reloaded-for') === location.href) return
  sessionStorage.setItem('reloaded-for', location.href)
  location.reload()
})

/** What lies above the page: its head is none of the page. */
const overlay = {
  attributes: { header: { role: 'presentation' } },
  closeButtonProps: { 'aria-label': 'Close' },
}

const theme = createTheme({
  components: {
    Modal: Modal.extend({ defaultProps: overlay }),
    Drawer: Drawer.extend({ defaultProps: overlay }),
    // Options are made once they are looked at: those of the apps alone are a hundred on every page.
    Combobox: { defaultProps: { keepMounted: false } },
  },
  respectReducedMotion: true,
  primaryColor: 'indigo',
  // Dark enough for white letters.
  primaryShade: 7,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  cursorType: 'pointer',
  autoContrast: true,
})

/** Colours of letters on a light ground of the same colour, dark enough to be read by everybody. */
const letters: Readonly<Record<string, string>> = {
  yellow: '#744b00',
  orange: '#8f3500',
  teal: '#05583f',
  red: '#a51e1e',
  blue: '#155a96',
  gray: '#495057',
}

const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5c636a',
    '--mantine-color-placeholder': '#6c737a',
    ...Object.fromEntries(
      Object.entries(letters).map(([name, color]) => [`--mantine-color-${name}-light-color`, color]),
    ),
  },
  dark: { '--mantine-color-dimmed': '#a6acb3', '--mantine-color-placeholder': '#9aa1a8' },
})

createRoot(document.getElementById('root') as HTMLElement).render(
  <MantineProvider
    theme={theme}
    defaultColorScheme="auto"
    cssVariablesResolver={cssVariablesResolver}
    getStyleNonce={() => nonce}
  >
    <QueryClientProvider client={queryClient}>
      <Notices />
      <Entrance />
    </QueryClientProvider>
  </MantineProvider>,
)
