import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core'

/** Something that is shown this once. */
export function Secret(props: { readonly label: string; readonly value: string; readonly onDone: () => void }) {
  const { label, value, onDone } = props
  return (
    <Alert color="yellow" title="Shown only once" withCloseButton closeButtonLabel="Close" onClose={onDone}>
      <Stack gap="xs">
        <Text size="sm">{label}</Text>
        <Group gap="xs">
          <Code style={{ overflowWrap: 'anywhere' }}>{value}</Code>
          <CopyButton value={value}>
            {({ copied, copy }) => (
              <Button size="compact-xs" variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
        </Group>
      </Stack>
    </Alert>
  )
}
