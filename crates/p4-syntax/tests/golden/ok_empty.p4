// Nothing but a comment.
;
;;
