import { Anchor } from '@mantine/core'
import type { AdminResult } from '@parley/client'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { admin } from '../api.ts'
import { useCan } from '../shell/session.tsx'
import { AddressInput } from '../ui/AddressInput.tsx'
import { useSave } from '../ui/act.tsx'
import { useAddress } from '../ui/address.ts'
import { AppButtons, AppState } from '../ui/app-state.tsx'
import type { App } from '../ui/apps.ts'
import { type Field, FormButton, type Values } from '../ui/Form.tsx'
import { useRows } from '../ui/lists.ts'
import { Page, Time } from '../ui/page.tsx'
import { Secret } from '../ui/Secret.tsx'
import { Table } from '../ui/Table.tsx'

/** The apps of the deployment that the operator has to do with. */
export function Apps() {
  const [{ q = '' }] = useAddress()
  const list = useRows<App>(['apps', 'list', q], (place) =>
    admin('GET /apps', { perPage: 100, ...(q !== '' && { searchKey: q }), ...place }),
  )
  const can = useCan()
  const save = useSave()
  const [made, setMade] = useState<AdminResult<'POST /apps'>>()
  const create = async (values: Values) => {
    const run = () => admin('POST /apps', values as never)
    setMade(await save({ run, done: 'The app was created', refresh: [['apps']] }))
  }
  const fields: readonly Field[] = [
    { name: 'appId', label: 'App ID', hint: 'Letters, digits, - and _', required: true, max: 100 },
    {
      name: 'region',
      label: 'Region',
      kind: 'choice',
      options: ['us', 'eu', 'in'],
      hint: 'What clients put into host names',
    },
  ]
  return (
    <Page
      title="Apps"
      hint="Each app has users, groups, messages, settings and keys of its own."
      actions={
        can('apps') && <FormButton button="Create an app" title="Create an app" fields={fields} onSubmit={create} />
      }
    >
      {made !== undefined && (
        <Secret label={`API key of ${made.appId} (fullAccess)`} value={made.apiKey} onDone={() => setMade(undefined)} />
      )}
      <AddressInput aria-label="Search: Apps" placeholder="App ID" maxLength={100} name="q" maw={320} />
      <Table
        label="Apps"
        list={list}
        idOf={({ appId }) => appId}
        empty={q === '' ? 'There is no app that you look after.' : `No app is found by “${q}”.`}
        columns={[
          {
            label: 'App ID',
            width: '1.5fr',
            cell: ({ appId }) => (
              <Anchor component={Link} to={`/apps/${encodeURIComponent(appId)}`} size="sm">
                {appId}
              </Anchor>
            ),
          },
          { label: 'Region', width: '5rem', cell: ({ region }) => region },
          { label: 'Created', width: '11rem', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { label: 'State', width: '2fr', cell: (app) => <AppState app={app} /> },
          {
            label: 'Actions',
            width: '10rem',
            isShown: can('configure') || can('apps'),
            cell: (app) => <AppButtons app={app} mayDelete />,
          },
        ]}
      />
    </Page>
  )
}
