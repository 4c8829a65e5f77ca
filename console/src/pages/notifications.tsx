import { Tabs } from '@mantine/core'
import { useCan } from '../shell/session.tsx'
import { useAddress } from '../ui/address.ts'
import { Page } from '../ui/page.tsx'
import { Forbidden } from '../ui/states.tsx'
import { Emulators, useEmulators } from './emulators.tsx'
import { Explain, Log, Unsubscriptions } from './notification-log.tsx'
import { Providers } from './notification-providers.tsx'
import { Preferences } from './notification-settings.tsx'
import { TemplatesTab } from './notification-templates.tsx'

/** Push, e-mail and SMS: what was sent and why, by whom, and what is said. */
export function Notifications() {
  const [{ tab = 'log' }, change] = useAddress()
  const can = useCan()
  const emulators = useEmulators()
  return (
    <Page title="Notifications" hint="By push, e-mail and SMS.">
      <Tabs value={tab} onChange={(next) => change({ tab: next ?? undefined })} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="log">Log</Tabs.Tab>
          <Tabs.Tab value="explain">Why, or why not</Tabs.Tab>
          {can('configure') && <Tabs.Tab value="providers">Providers</Tabs.Tab>}
          <Tabs.Tab value="preferences">Preferences</Tabs.Tab>
          <Tabs.Tab value="templates">Templates</Tabs.Tab>
          {can('read') && <Tabs.Tab value="unsubscriptions">Unsubscriptions</Tabs.Tab>}
          {emulators.data?.isSet === true && <Tabs.Tab value="emulators">Emulators</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="log" pt="md">
          <Log />
        </Tabs.Panel>
        <Tabs.Panel value="explain" pt="md">
          <Explain />
        </Tabs.Panel>
        <Tabs.Panel value="providers" pt="md">
          {can('configure') ? <Providers /> : <Forbidden right="configure" />}
        </Tabs.Panel>
        <Tabs.Panel value="preferences" pt="md">
          <Preferences />
        </Tabs.Panel>
        <Tabs.Panel value="templates" pt="md">
          <TemplatesTab />
        </Tabs.Panel>
        <Tabs.Panel value="unsubscriptions" pt="md">
          {can('read') ? <Unsubscriptions /> : <Forbidden right="read" />}
        </Tabs.Panel>
        <Tabs.Panel value="emulators" pt="md">
          <Emulators />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
