$W help exec
