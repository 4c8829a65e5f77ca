import type { Page } from 'playwright-core'

/** Gives a page a message that no component can draw, in place of the one with this text. */
export async function breakMessage(page: Page, text: string): Promise<void> {
  await page.route(
    ({ pathname }) => pathname.endsWith('/messages'),
    async (route) => {
      const response = await route.fetch()
      // The page itself may have such an address.
      if (!response.headers()['content-type']?.includes('json')) return route.fulfill({ response })
      const body = (await response.json()) as { data?: unknown }
      if (Array.isArray(body.data)) {
        for (const message of body.data) if (message.data?.text === text) message.reactions = { length: 1 }
      }
      await route.fulfill({ response, json: body })
    },
  )
}
